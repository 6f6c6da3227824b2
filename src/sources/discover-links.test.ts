import { rename, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../tests/support/app.ts';
import { linkFolder, writeFiles } from '../../tests/support/folders.ts';
import { discoverSources } from './discover.ts';
import type { Tree } from './tree.ts';

/** What a home folder has, and what makes it look like a BMAD folder without a manifest. */
const HOME = ['.ssh/id_rsa', 'diary.md', '.claude/agents/a.md', '.claude/.credentials.json'];

interface Discovery {
  folder: string;
  tree: Tree | undefined;
  warnings: string[];
}

/** Looks at a project that is written here, in a home folder, with the links that come with it. */
async function discover(
  written: readonly string[],
  links: Readonly<Record<string, string>> = {},
  listed = '',
): Promise<Discovery> {
  const folder = await temporaryFolder(afterAll);
  const home = HOME.map((path) => `home/${path}`);
  await writeFiles(folder, Object.fromEntries([...home, ...written, 'project/'].map((path) => [path, ''])));
  if (listed !== '')
    await writeFiles(folder, { 'project/_bmad/_config/skill-manifest.csv': `canonicalId\n${listed}\n` });
  for (const [name, target] of Object.entries(links))
    await linkFolder(join(folder, target), join(folder, 'project', name));
  const { sources, warnings } = await discoverSources({
    mode: 'local',
    git: [],
    project: join(folder, 'project'),
    home: join(folder, 'home'),
    maxFileBytes: 100_000,
    paths: [],
    root: undefined,
  });
  return { folder, tree: sources[0]?.tree, warnings };
}

describe('a project whose BMAD folder is a link', () => {
  it.each([
    ['_bmad', 'home', []],
    ['bmad', '.', ['x/agents/a.md']],
    ['_bmad', 'project', ['project/_config/manifest.yaml', 'project/notes.md']],
    ['.bmad-core', 'home/.claude', []],
  ])('does not make content of what %s -> %s leads to (S-20)', async (name, target, more) => {
    const { tree, warnings } = await discover(more, { [name]: target });
    expect(tree).toBeUndefined();
    expect(warnings).toEqual([
      expect.stringContaining(`"${name}" is a link to a folder outside that is not a BMAD installation`),
    ]);
  });

  it('reads nothing of it either when the link takes the place of a folder later (S-20)', async () => {
    const { folder, tree } = await discover([
      'project/_bmad/_config/manifest.yaml',
      'project/_bmad/diary.md',
    ]);
    expect(await tree?.text('diary.md')).toBe('');
    await rename(join(folder, 'project/_bmad'), join(folder, 'project/before'));
    await linkFolder(join(folder, 'home'), join(folder, 'project/_bmad'));
    await expect(tree?.text('diary.md')).rejects.toMatchObject({ code: 'forbidden' });
    expect(await tree?.files()).toEqual([]);
    expect(await tree?.modified('diary.md')).toBeUndefined();
  });

  it('does not share what another project remembers, though it shares its folder (S-20)', async () => {
    const { tree } = await discover(
      ['other/_bmad/_config/manifest.yaml', 'other/_bmad/_memory/decisions-log.md', 'other/_bmad/bmm/a.md'],
      { _bmad: 'other/_bmad' },
    );
    expect(await tree?.files()).toEqual(['_config/manifest.yaml', 'bmm/a.md']);
    await expect(tree?.text('_memory/decisions-log.md')).rejects.toMatchObject({ code: 'not_found' });
  });
});

it('skills are skills, wherever a link in place of their folder leads (S-20)', async () => {
  const { tree } = await discover(
    ['home/bmad-plans/plan.md', 'home/bmad-x/SKILL.md'],
    { '.claude/skills': 'home' },
    '.ssh',
  );
  expect(await tree?.files()).toEqual(['.claude/skills/bmad-x/SKILL.md', '_config/skill-manifest.csv']);
  await expect(tree?.text('.claude/skills/.ssh/id_rsa')).rejects.toMatchObject({ code: 'not_found' });
});

it('files of secrets are not content, whichever folder is declared to be BMAD’s (S-20)', async () => {
  const own = ['.env.example', '_config/manifest.yaml', 'rotate-secrets/SKILL.md'];
  const secret = ['.env', 'tls/server.key', '.aws/config'];
  const { folder, tree } = await discover([...own, ...secret].map((path) => `project/web/${path}`));
  expect(await tree?.files()).toEqual(own);
  await symlink('.env', join(folder, 'project/web/notes.md'));
  for (const path of [...secret, 'notes.md'])
    await expect(tree?.text(path), path).rejects.toMatchObject({ code: 'not_found' });
});
