import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { contextIn, temporaryFolder, testCall } from '../../../tests/support/app.ts';
import { installOf } from '../../../tests/support/installs.ts';
import { execute } from '../execute.ts';
import type { AnyOperation } from '../operation.ts';
import { explain, preferOrigin } from './explain.ts';
import { copyFolder } from '../../../tests/support/folders.ts';

/** A project with an architect of its own, beside the one that is built in. */
async function shop(flags: Record<string, string> = {}) {
  const home = await temporaryFolder(afterAll);
  copyFolder(await installOf('6.12.0'), join(home, 'shop'));
  const context = await contextIn(join(home, 'shop'), { home, flags });
  const file = join(home, '.config/bmad-mcp-server/config.toml');
  const run = async (operation: AnyOperation, input: object) => {
    const outcome = await execute(operation, input, context, testCall());
    if (!outcome.ok) throw outcome.error;
    return outcome.data;
  };
  const served = async (): Promise<string | undefined> => {
    const { candidates } = await run(explain, { target: 'architect', kind: 'agent' });
    return (candidates as { origin: string; chosen: boolean }[]).find(({ chosen }) => chosen)?.origin;
  };
  return { file, run, served };
}

describe('M-02: an origin that a person prefers', () => {
  it('is kept in the configuration of the user and holds with the next call, until it is taken back', async () => {
    const { file, run, served } = await shop();
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, '# mine\nprefer = ["pm=package", "architect=user"] # why\npage_size = 40\n');
    expect(await served()).toBe('Project');
    expect(await run(preferOrigin, { name: 'architect', origin: 'BMAD 6.12.0 (built in)' })).toMatchObject({
      name: 'bmm/bmad-agent-architect',
      origin: 'BMAD 6.12.0 (built in)',
      file,
    });
    expect(await readFile(file, 'utf8')).toBe(
      '# mine\nprefer = [\n  "bmm/bmad-agent-architect=package",\n  "pm=package",\n]\npage_size = 40\n',
    );
    expect(await served()).toBe('BMAD 6.12.0 (built in)');
    await run(preferOrigin, { name: 'architect', origin: 'project' });
    expect(await served()).toBe('Project');
    await run(preferOrigin, { name: 'architect' });
    expect(await readFile(file, 'utf8')).toBe('# mine\nprefer = [\n  "pm=package",\n]\npage_size = 40\n');
    await expect(run(preferOrigin, { name: 'architect', origin: 'user' })).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it('stays when another is chosen at the same time', async () => {
    const { file, run } = await shop();
    await Promise.all(
      ['architect', 'pm', 'dev'].map((name) => run(preferOrigin, { name, origin: 'package' })),
    );
    const text = await readFile(file, 'utf8');
    for (const name of ['architect', 'pm', 'dev']) expect(text).toContain(`bmm/bmad-agent-${name}=package`);
  });

  it('counts before one for the whole module', async () => {
    const { file, run, served } = await shop();
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, 'prefer = ["bmm=project"]\n');
    await run(preferOrigin, { name: 'architect', origin: 'package' });
    expect(await served()).toBe('BMAD 6.12.0 (built in)');
  });

  it('is not written where a flag decides, or nothing may be written', async () => {
    const decided = await shop({ prefer: 'pm=package' });
    const wanted = { name: 'architect', origin: 'package' };
    await expect(decided.run(preferOrigin, wanted)).rejects.toMatchObject({ code: 'conflict' });
    const readOnly = await shop({ readOnly: 'true' });
    await expect(readOnly.run(preferOrigin, wanted)).rejects.toMatchObject({ code: 'forbidden' });
    for (const { file } of [decided, readOnly]) await expect(readFile(file)).rejects.toThrow('ENOENT');
  });
});
