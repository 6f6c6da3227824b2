import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { allowed, KIT_LIKE_SCRIPT, SCRIPT_PATH } from '../../../tests/support/contract-project.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import { sessionIn } from '../../../tests/support/operations.ts';
import { doctor } from './doctor.ts';

const agent = (name: string, description: string): string =>
  `---\nname: "${name}"\ndescription: "${description}"\n---\n\n<agent id="${name}" name="${name}" title="T">\n</agent>\n`;

describe('safety', () => {
  it('finds nothing to worry about in an empty project', async () => {
    const folder = await temporaryFolder(afterAll);
    const session = await sessionIn(folder, { home: await temporaryFolder(afterAll) });
    const { data, answer } = await session.ok(doctor, { handshake: false });
    expect(data['safety']).toEqual({
      programs: [],
      allowed: true,
      outside: [],
      replaced: [],
      disguised: 0,
      open: [],
      stores: [],
    });
    expect(answer.body).toContain('Safety: nothing to report');
  });

  it.skipIf(process.platform === 'win32')('names what a stranger’s project brings with it', async () => {
    const folder = await temporaryFolder(afterAll);
    const home = await temporaryFolder(afterAll);
    await mkdir(join(home, '.local/state/bmad-mcp-server'), { recursive: true });
    await chmod(join(home, '.local/state/bmad-mcp-server'), 0o755);
    await writeFiles(home, { '.bmad/core/agents/guest.md': agent('guest', 'Comes from elsewhere') });
    await writeFiles(folder, {
      [SCRIPT_PATH]: KIT_LIKE_SCRIPT,
      '_bmad/bmm/agents/architect.md': agent('architect', 'Hid\u200Bden'),
    });
    const session = await sessionIn(folder, { home });
    const { data, answer } = await session.ok(doctor, { handshake: false });
    expect(data['safety']).toMatchObject({
      programs: expect.arrayContaining([expect.stringContaining('cc-verify.sh')]) as string[],
      allowed: false,
      outside: [expect.stringContaining('.bmad') as string],
      replaced: [expect.stringMatching(/architect of Project/) as string],
      disguised: 1,
      open: [join(home, '.local/state/bmad-mcp-server')],
    });
    expect(answer.body).toContain('Programs of this project, not allowed yet:');
    await allowed(session);
    expect((await session.ok(doctor, { handshake: false })).answer.body).toContain('allowed on this machine');
  });
});
