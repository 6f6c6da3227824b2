import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../tests/support/app.ts';
import { linkFolder, writeFiles } from '../../tests/support/folders.ts';
import { DISK, folderTree, mountedTree } from './tree.ts';
import { readMarketplace } from './marketplace.ts';

interface Result {
  /** The paths of the tree that the modules make, or nothing. */
  files: string[] | undefined;
  declared: unknown[] | undefined;
  warnings: string[];
}

/** What comes of a marketplace with these plugins over these files. */
async function resolved(
  plugins: unknown,
  files: readonly string[],
  {
    texts = {},
    more = {},
    outside,
  }: { texts?: Record<string, string>; more?: object; outside?: string } = {},
): Promise<Result> {
  const parent = await temporaryFolder(afterAll);
  const folder = join(parent, 'repo');
  const data = { name: 'm', ...more, plugins };
  await writeFiles(folder, {
    ...Object.fromEntries(files.map((path) => [path, ''])),
    ...texts,
    '.claude-plugin/marketplace.json': `\uFEFF${JSON.stringify(data)}`,
  });
  if (outside !== undefined) {
    await writeFiles(parent, { 'secret/SKILL.md': '' });
    await linkFolder(join(parent, 'secret'), join(folder, outside));
  }
  const warnings: string[] = [];
  const found = await readMarketplace(
    folder,
    { disk: DISK, open: (path, shows) => folderTree(path, 100_000, { shows }) },
    (message) => warnings.push(message.replace('.claude-plugin/marketplace.json: ', '')),
  );
  return {
    files: found === undefined ? undefined : await mountedTree(folder, found.parts).files(),
    declared: found?.declared,
    warnings,
  };
}

const assets = (skill: string): string[] => [
  `${skill}/assets/module.yaml`,
  `${skill}/assets/module-help.csv`,
];
const skills = (...paths: string[]): string[] => paths.map((path) => `${path}/SKILL.md`);

describe('a plugin', () => {
  it('is a module of its name when nothing else says what it is', async () => {
    const plugin = {
      name: 'my plugin',
      source: './',
      version: '1.0.0',
      description: 'D',
      displayName: 'Mine',
    };
    const { files, declared, warnings } = await resolved(
      [{ ...plugin, skills: ['./src/plan/a', 'src/b/'] }],
      [...skills('src/plan/a', 'src/b', 'src/draft'), 'src/b/steps/one.md', 'README.md'],
    );
    expect(files).toEqual(['my-plugin/b/SKILL.md', 'my-plugin/b/steps/one.md', 'my-plugin/plan/a/SKILL.md']);
    expect(declared).toEqual([{ code: 'my-plugin', name: 'Mine', description: 'D', version: '1.0.0' }]);
    expect(warnings).toEqual([]);
  });

  it('is what the definition beside its skills says, with the listed skills only', async () => {
    const { files, declared } = await resolved(
      [{ name: 'p', version: '3.0.0', skills: ['./src/a', './src/b'] }],
      [...skills('src/a', 'src/b', 'src/draft'), 'src/module-help.csv', 'src/notes.md'],
      { texts: { 'src/module.yaml': 'code: acme\nname: Acme' } },
    );
    expect(files).toEqual(['acme/a/SKILL.md', 'acme/b/SKILL.md', 'acme/module-help.csv', 'acme/module.yaml']);
    expect(declared).toEqual([{ code: 'acme', version: '3.0.0' }]);
  });

  it('may be defined in the assets of a setup skill', async () => {
    const { files } = await resolved(
      [{ name: 'p', skills: ['./skills/a', './skills/acme-setup'] }],
      [...skills('skills/a', 'skills/acme-setup'), ...assets('skills/a'), ...assets('skills/acme-setup')],
      { texts: { 'skills/acme-setup/assets/module.yaml': 'code: acme' } },
    );
    expect(files?.filter((path) => !path.includes('/assets/'))).toEqual([
      'acme/a/SKILL.md',
      'acme/acme-setup/SKILL.md',
      'acme/module-help.csv',
      'acme/module.yaml',
    ]);
  });

  it('is as many modules as skills when each has a definition', async () => {
    const { files, declared } = await resolved(
      [{ name: 'p', version: '1', description: 'Both', skills: ['a', 'b'] }],
      [...skills('a', 'b'), ...assets('a'), ...assets('b')],
      { texts: { 'a/assets/module.yaml': 'code: first' } },
    );
    expect(files).toContain('first/a/SKILL.md');
    expect(files).toContain('b/b/SKILL.md');
    expect(declared).toEqual([
      { code: 'first', version: '1' },
      { code: 'b', version: '1' },
    ]);
  });

  it('takes one definition among several skills for none', async () => {
    const { files } = await resolved(
      [{ name: 'p', skills: ['a', 'b'] }],
      [...skills('a', 'b'), ...assets('a')],
    );
    expect(files).not.toContain('p/module.yaml');
    expect(files).toContain('p/b/SKILL.md');
  });

  it('leaves skills in the modules they are in', async () => {
    const { files, declared } = await resolved(
      [
        {
          name: 'all',
          version: '6.0.0',
          description: 'All',
          skills: ['./src/x-skills/a', './src/y/b', './c'],
        },
      ],
      [...skills('src/x-skills/a', 'src/x-skills/old', 'src/y/b', 'c'), 'src/x-skills/module.yaml'],
      { texts: { 'src/y/module.yaml': 'code: why' } },
    );
    expect(files).toEqual([
      'all/c/SKILL.md',
      'why/b/SKILL.md',
      'why/module.yaml',
      'x/a/SKILL.md',
      'x/module.yaml',
      'x/old/SKILL.md',
    ]);
    expect(declared).toEqual([
      { code: 'x', version: '6.0.0' },
      { code: 'why', version: '6.0.0' },
      { code: 'all', description: 'All', version: '6.0.0' },
    ]);
  });

  it('without a list of skills is what is in its source', async () => {
    const { files } = await resolved(
      [{ name: 'top' }, { name: 'one', source: './plugins/one' }, { name: 'two', source: './plugins/two' }],
      [
        ...skills('skills/a', 'plugins/one/skills/b'),
        'plugins/one/agents/x.md',
        'plugins/two/src/module.yaml',
        ...skills('plugins/two/src/c'),
      ],
    );
    expect(files).toEqual([
      'one/agents/x.md',
      'one/skills/b/SKILL.md',
      'top/.claude-plugin/marketplace.json',
      'top/skills/a/SKILL.md',
      'two/c/SKILL.md',
      'two/module.yaml',
    ]);
  });

  it('has paths from the top, or else from its source, below the base that is given', async () => {
    const { files, warnings } = await resolved(
      [{ name: 'p', source: 'one', skills: './skills/a' }],
      [...skills('plugins/one/skills/a'), 'plugins/one/agents/x.md'],
      { more: { metadata: { pluginRoot: './plugins' } } },
    );
    expect(warnings).toEqual([]);
    expect(files).toEqual(['p/a/SKILL.md', 'p/agents/x.md']);
  });

  it('may share a module with another; a skill is served once', async () => {
    const { files, warnings } = await resolved(
      [
        { name: 'one', skills: ['m/a'] },
        { name: 'two', skills: ['m/a', 'm/b'] },
        { name: 'three', skills: ['m/b'] },
      ],
      [...skills('m/a', 'm/b'), 'm/module.yaml'],
      { texts: { 'm/module.yaml': 'code: m' } },
    );
    expect(files).toEqual(['m/a/SKILL.md', 'm/b/SKILL.md', 'm/module.yaml']);
    expect(warnings).toEqual([]);
  });
});

describe('what cannot be used', () => {
  const ELSEWHERE =
    'it is stored elsewhere and is not fetched; add its repository or folder as a separate source';

  it.each([
    [{ source: { source: 'github', repo: 'acme/x' } }, ELSEWHERE],
    [{ source: { source: 'url', url: 'https://ada:secret@example.org/x.git' } }, ELSEWHERE],
    [{ source: 'https://example.org/x.git' }, ELSEWHERE],
    [{ source: 'git@example.org:x.git' }, ELSEWHERE],
    [{ source: 7 }, ELSEWHERE],
    [{ source: '../other' }, 'its source "../other" points outside the folder and is left out'],
    [{ source: '/etc' }, 'its source "/etc" points outside the folder and is left out'],
    [{ source: 'C:\\x' }, 'its source "C:\\\\x" points outside the folder and is left out'],
    [{ source: './link' }, 'its source "./link" points outside the folder and is left out'],
    [{ source: './gone' }, 'its source "./gone" does not exist'],
    [
      { skills: ['./a/../../secret'] },
      'its skill "./a/../../secret" points outside the folder and is left out',
    ],
    [{ skills: ['./link'] }, 'its skill "./link" points outside the folder and is left out'],
    [{ skills: ['./gone'] }, 'its skill "./gone" does not exist'],
    [{ skills: [{}] }, 'it lists a skill that is not a path'],
  ])('of a plugin %j is told, and the others remain', async (plugin, reason) => {
    const { files, warnings } = await resolved(
      [
        { name: 'bad', ...plugin },
        { name: 'good', skills: ['a'] },
      ],
      skills('a'),
      { outside: 'link' },
    );
    expect(files).toEqual(['good/a/SKILL.md']);
    expect(warnings).toEqual([`plugin "bad": ${reason}`]);
  });

  it('of plugins themselves is told', async () => {
    const { files, warnings } = await resolved(
      [
        null,
        'x',
        { source: './' },
        { name: '../..' },
        { name: 'a', skills: ['a'] },
        { name: 'a', skills: ['b'] },
      ],
      skills('a', 'b'),
    );
    expect(files).toEqual(['a/a/SKILL.md']);
    const nameless = '.claude-plugin/marketplace.json lists a plugin without a name';
    expect(warnings).toEqual([
      nameless,
      nameless,
      nameless,
      nameless,
      'plugin "a": a module "a" already exists',
    ]);
  });

  it('leaves nothing when nothing is usable', async () => {
    expect((await resolved([], skills('a'))).files).toBeUndefined();
    expect((await resolved([{ name: 'p', skills: ['gone'] }], [])).files).toBeUndefined();
    expect((await resolved([{ name: 'p' }], ['src/main.c'])).files).toBeUndefined();
  });
});
