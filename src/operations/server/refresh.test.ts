import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { writeFiles } from '../../../tests/support/folders.ts';
import { openSession } from '../../../tests/support/operations.ts';
import { bmad } from '../unified/bmad.ts';
import { list } from '../catalogue/list.ts';
import { refresh } from './refresh.ts';

const agent = (name: string, mark: string): string =>
  `---\nname: "${name}"\ndescription: "${mark}"\n---\n<agent id="a" name="W" title="T" icon="x">\n${mark}\n</agent>\n`;

async function session() {
  const opened = await openSession(afterAll, { flags: { discovery: 'local' } });
  await writeFiles(opened.folder, {
    'bmad/_cfg/manifest.yaml': 'installation:\n  version: 6.0.0-alpha.7\nmodules:\n  - bmm\n',
    'bmad/bmm/agents/architect.md': agent('architect', 'one'),
    'bmad/bmm/agents/pm.md': agent('pm', 'one'),
  });
  return opened;
}

describe('refresh', () => {
  it('has nothing to compare with the first time', async () => {
    const { ok, folder } = await session();
    const { data, answer } = await ok(refresh);
    expect(data).toMatchObject({ project: folder, known: false, added: [], total: 2 });
    expect(answer.body).toMatch(
      /^Read for the first time, so there is nothing to compare with\. 2 records from /,
    );
  });

  it('says that an agent has changed when its menu has, and nothing when a file was only touched', async () => {
    const { ok, folder } = await openSession(afterAll, { flags: { discovery: 'local' } });
    const menu = (text: string): string =>
      `[[agent.menu]]\ncode = "LL"\ndescription = "${text}"\nprompt = "Go"\n`;
    await writeFiles(folder, {
      '_bmad/_config/manifest.yaml':
        'installation:\n  version: 6.12.0\nmodules:\n  - name: bmm\n    version: 6.12.0\n',
      '_bmad/bmm/config.yaml': 'user_name: Ada\n',
      '.claude/skills/bmad-agent-keeper/SKILL.md':
        '---\nname: bmad-agent-keeper\ndescription: Keeps\n---\n# Keeper\n',
      '.claude/skills/bmad-agent-keeper/customize.toml': `[agent]\nname = "Ida"\ntitle = "Keeper"\n${menu('Own')}`,
      '_bmad/custom/bmad-agent-keeper.toml': menu('One'),
    });
    await ok(list);
    const changed = /^Changed:\n- agent \S+bmad-agent-keeper/;
    for (const [file, text] of [
      ['_bmad/custom/bmad-agent-keeper.toml', menu('Two')],
      ['_bmad/custom/bmad-agent-keeper.user.toml', menu('Mine')],
      [
        '.claude/skills/bmad-agent-keeper/customize.toml',
        `[agent]\nname = "Ida"\ntitle = "Keeper"\n${menu('New')}`,
      ],
    ] as const) {
      await writeFiles(folder, { [file]: text });
      expect((await ok(refresh)).answer.body, file).toMatch(changed);
      await writeFiles(folder, { [file]: text });
      expect((await ok(refresh)).answer.body, file).toBe('Nothing has changed.');
    }
  });

  it('says what was added, changed and removed, and serves it', async () => {
    const { ok, folder } = await session();
    await ok(list);
    expect((await ok(refresh)).answer.body).toBe('Nothing has changed.');
    await writeFiles(folder, {
      'bmad/bmm/agents/architect.md': agent('architect', 'two'),
      'bmad/bmm/agents/dev.md': agent('dev', 'one'),
    });
    await rm(join(folder, 'bmad/bmm/agents/pm.md'));
    const { data, answer } = await ok(refresh);
    expect(data).toMatchObject({
      known: true,
      added: [{ kind: 'agent', name: 'bmm/dev', uri: 'bmad://bmm/agents/dev.md' }],
      changed: [{ name: 'bmm/architect' }],
      removed: [{ name: 'bmm/pm' }],
    });
    expect(answer.body.replaceAll(/ \(.*\)/g, '')).toBe(
      'Added:\n- agent bmm/dev\nChanged:\n- agent bmm/architect\nRemoved:\n- agent bmm/pm',
    );
    expect((await ok(list)).answer.body).toContain('dev');
  });

  it('can be asked for by a model, and cuts long lists in words only', async () => {
    const { ok, folder } = await session();
    await ok(bmad, { operation: 'list', query: 'agents' });
    await writeFiles(
      folder,
      Object.fromEntries(
        Array.from({ length: 60 }, (_, index) => [`bmad/bmm/agents/a${index}.md`, agent(`a${index}`, 'x')]),
      ),
    );
    const { data, answer } = await ok(bmad, { operation: 'refresh' });
    expect((data['result'] as { added: unknown[] }).added).toHaveLength(60);
    expect(answer.body).toMatch(/- and 20 more$/);
  });

  it('uses no argument but the project, and says so', async () => {
    const { ok, fail } = await session();
    const { answer } = await ok(bmad, { operation: 'refresh', agent: 'pm' });
    expect(answer.note).toContain('Not used by refresh: agent.');
    expect((await fail(bmad, { operation: 'refresh', agents: 'pm' })).text).toContain('"agents"');
    expect((await fail(refresh, { project: '/nowhere/at/all' })).hint).toBeTruthy();
  });
});
