import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { contextIn, temporaryFolder, testCall } from '../../tests/support/app.ts';
import { writeFiles } from '../../tests/support/folders.ts';
import { agentText } from '../../tests/support/generated-tree.ts';
import { list } from '../operations/catalogue/list.ts';
import { execute } from '../operations/execute.ts';
import type { Context } from '../operations/context.ts';

const USER = 'home/.config/bmad-mcp-server/config.toml';
const PROJECT = 'project/bmad-mcp.toml';

async function world() {
  const folder = await temporaryFolder(afterAll);
  await writeFiles(folder, {
    'project/.git/': '',
    'team/agents/keeper.md': agentText('keeper', 'Keeps the light'),
    'other/agents/keeper.md': agentText('keeper', 'Keeps the gate'),
    [USER]: '# nothing yet\n',
  });
  const open = () => contextIn(join(folder, 'project'), { home: join(folder, 'home') });
  return { folder, context: await open(), open };
}

async function listed(context: Context, input: Record<string, unknown> = {}): Promise<string> {
  const outcome = await execute(list, { what: 'agents', ...input }, context, testCall());
  return outcome.ok ? outcome.answer.body : outcome.error.text;
}

describe('an edit of a configuration file', () => {
  it('counts with the next call, as for a process that has just been started', async () => {
    const { folder, context, open } = await world();
    const paths = (...names: string[]): string =>
      `paths = [${names.map((name) => JSON.stringify(join(folder, name))).join(', ')}]\n`;
    let before = await listed(context);
    for (const files of [
      { [USER]: paths('team') },
      { [USER]: paths('other', 'team') },
      { [USER]: `${paths('other', 'team')}origin_order = ["package"]\n` },
      { [PROJECT]: 'page_size = 2\n' },
      { [PROJECT]: 'page_size = 3\nboost = ["keeper"]\n' },
      { [USER]: 'discovery = "user"\n' },
    ]) {
      await writeFiles(folder, files);
      const now = await listed(context);
      expect(now, JSON.stringify(files)).toBe(await listed(await open()));
      expect(now, JSON.stringify(files)).not.toBe(before);
      before = now;
    }
    await rm(join(folder, USER));
    expect(await listed(context)).toBe(await listed(await open()));
  });

  it('that cannot be read is told, and everything else is served', async () => {
    const { folder, context } = await world();
    const before = await listed(context);
    await writeFiles(folder, { [USER]: 'paths = [' });
    expect(await listed(context)).toBe(before);
    expect(context.configWarnings.join('\n')).toContain('config.toml is ignored');
    expect(context.written.join('')).toContain('config.toml is ignored');
    await writeFiles(folder, { [USER]: '' });
    await listed(context);
    expect(context.configWarnings).toEqual([]);
  });

  it('does not loosen what was decided at the start', async () => {
    const { folder, context } = await world();
    await listed(context);
    const { readOnly, allowProjects, trust } = context.config;
    await writeFiles(folder, {
      [USER]: `read_only = true\nallow_projects = [${JSON.stringify(folder)}]\ntrust = ["always"]\n`,
    });
    await listed(context);
    expect(context.config).toMatchObject({ readOnly, allowProjects, trust });
  });
});
