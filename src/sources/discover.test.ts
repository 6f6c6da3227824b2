import { realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../tests/support/app.ts';
import { linkFolder, writeFiles } from '../../tests/support/folders.ts';
import { installOf } from '../../tests/support/installs.ts';
import { packageSource } from '../../tests/support/package-skills.ts';
import { discoverSources, type Discovered, type DiscoveryRequest } from './discover.ts';

interface Discovery {
  folder: string;
  /** Kind, priority and name of each source, with its root from the folder of the test. */
  list: string[];
  found: Discovered;
}

/** Looks for sources in a new folder: the project is `project`, the user's folder `home`. */
async function discover(
  written: readonly string[],
  request: Partial<DiscoveryRequest> = {},
  prepare: (folder: string) => Promise<void> = async () => undefined,
): Promise<Discovery> {
  const folder = await temporaryFolder(afterAll);
  await writeFiles(folder, Object.fromEntries([...written, 'project/', 'home/'].map((path) => [path, ''])));
  await prepare(folder);
  const place = (path: string): string => join(folder, path);
  const found = await discoverSources({
    mode: 'auto',
    git: [],
    project: place('project'),
    home: place('home'),
    maxFileBytes: 100_000,
    ...request,
    paths: (request.paths ?? []).map(place),
    root: request.root === undefined ? undefined : place(request.root),
  });
  const list = found.sources.map(
    ({ origin: { kind, priority, displayName, root } }) =>
      `${kind} ${priority} ${displayName}: ${root.replace(folder, '').slice(1)}`,
  );
  return { folder, list, found };
}

async function files({ sources }: Discovered, index = 0): Promise<string[] | undefined> {
  return sources[index]?.tree.files();
}

const V4 = ['agents/pm.md', 'core-config.yaml'];
const below = (folder: string, paths: readonly string[]): string[] =>
  paths.map((path) => `${folder}/${path}`);

describe('the sources of a project', () => {
  it('are all its roots, the newest shape first', async () => {
    const { list, found } = await discover([
      ...below('project/.bmad-core', V4),
      ...below('project/.bmad-game-pack', V4),
      'project/bmad/_cfg/manifest.yaml',
      'project/zoo/_config/manifest.yaml',
      'project/_bmad/_config/manifest.yaml',
      'project/src/index.ts',
    ]);
    expect(list).toEqual([
      'project 1 Project: project/_bmad',
      'project 1.01 Project (bmad): project/bmad',
      'project 1.02 Project (zoo): project/zoo',
      'project 1.03 Project (.bmad-core): project/.bmad-core',
      'project 1.04 Project (.bmad-game-pack): project/.bmad-game-pack',
    ]);
    expect(found.warnings).toEqual([]);
    expect(await files(found, 0)).toEqual(['_config/manifest.yaml']);
    // What version 4 calls its files begins with the name of their folder.
    expect(await files(found, 3)).toEqual(['.bmad-core/agents/pm.md', '.bmad-core/core-config.yaml']);
  });

  it.each([
    ['anything/_config/manifest.yaml', 'anything'],
    ['.hidden/_config/agent-manifest.csv', '.hidden'],
    ['my bmad/_cfg/workflow-manifest.csv', 'my bmad'],
    ['x/_config/skill-manifest.csv', 'x'],
    ['_bmad/bmm/agents/pm.md', '_bmad'],
    ['_bmad/custom/bmad-prd.toml', '_bmad'],
    ['.bmad/acme/module.yaml', '.bmad'],
    ['bmad/bmm/config.yaml', 'bmad'],
    ['.bmad-core/agents/pm.md', '.bmad-core'],
  ])('are found by %s', async (path, root) => {
    const { list } = await discover([`project/${path}`]);
    expect(list).toEqual([`project 1 Project: project/${root}`]);
  });

  it.each([
    ['no BMAD', ['.env', '.git/config', '.git/_config/manifest.yaml', 'README.md', 'src/agents/x.md']],
    ['a package that has some', ['node_modules/_config/manifest.yaml', 'node_modules/bmad-method/_config/x']],
    ['a folder of the right name only', ['_bmad/notes.md', 'bmad/src/main.c', '.bmad-core/readme.md']],
    ['a file of the right name', ['_bmad', 'bmad', '.bmad-core']],
    ['an unusual folder without manifests', ['tool/bmm/agents/pm.md', 'tool/_config/settings.yaml']],
    ['only an output folder', ['_bmad-output/planning-artifacts/prd.md']],
    ['only skills of others', ['.claude/skills/pdf/SKILL.md', '.claude/skills/bmad-os-release/SKILL.md']],
  ])('are none with %s', async (_what, paths) => {
    const { list, found } = await discover(below('project', paths));
    expect(list).toEqual([]);
    expect(found.warnings).toEqual([]);
  });

  it('may be a hundred and more, all of them before the next origin', async () => {
    const many = Array.from({ length: 120 }, (_, index) => `project/r${index}/_config/manifest.yaml`);
    const { found } = await discover([...many, 'p/agents/a.md'], { paths: ['p'] });
    const priorities = found.sources.map(({ origin }) => origin.priority);
    expect(new Set(priorities).size).toBe(121);
    expect(Math.max(...priorities.slice(0, -1))).toBeLessThan(2);
  });

  it('may lie elsewhere, behind a link', async () => {
    const { list, found } = await discover(
      ['shared/_config/manifest.yaml', 'shared/bmm/agents/pm.md'],
      {},
      (folder) => linkFolder(join(folder, 'shared'), join(folder, 'project/_bmad')),
    );
    expect(list).toEqual(['project 1 Project: project/_bmad']);
    expect(await files(found)).toEqual(['_config/manifest.yaml', 'bmm/agents/pm.md']);
    expect((await found.sources[0]?.tree.read('bmm/agents/pm.md'))?.length).toBe(0);
  });
});

describe("the skills in the assistants' folders", () => {
  const SKILLS = [
    'project/.claude/skills/bmad-x/SKILL.md',
    'project/.claude/skills/bmad-x/steps/one.md',
    'project/.claude/skills/pdf/SKILL.md',
    'project/.claude/skills/bmad-os-release/SKILL.md',
    'project/.claude/skills/bmad-readme.md',
    'project/.claude/settings.json',
    'project/.agents/skills/bmad-y/SKILL.md',
  ];
  const SHOWN = [
    '.agents/skills/bmad-y/SKILL.md',
    '.claude/skills/bmad-x/SKILL.md',
    '.claude/skills/bmad-x/steps/one.md',
  ];

  it('belong to the first root of version 6', async () => {
    const { list, found } = await discover([
      ...SKILLS,
      'project/_bmad/_config/manifest.yaml',
      'project/bmad/_cfg/manifest.yaml',
    ]);
    expect(list).toHaveLength(2);
    expect(await files(found, 0)).toEqual([...SHOWN, '_config/manifest.yaml']);
    expect(await files(found, 1)).toEqual(['_cfg/manifest.yaml']);
  });

  it('are a source of their own where there is no such root', async () => {
    const { list, found } = await discover([...SKILLS, ...below('project/.bmad-core', V4)]);
    expect(list).toEqual([
      'project 1 Project: project',
      'project 1.01 Project (.bmad-core): project/.bmad-core',
    ]);
    expect(await files(found)).toEqual(SHOWN);
  });

  it('may have any name that the manifest lists', async () => {
    const { found } = await discover(SKILLS, {}, (folder) =>
      writeFiles(folder, {
        'project/_bmad/_config/skill-manifest.csv': 'canonicalId,name\npdf,pdf\n"../../secret",x\n',
        'project/secret/SKILL.md': '',
      }),
    );
    const shown = [...SHOWN, '.claude/skills/pdf/SKILL.md', '_config/skill-manifest.csv'].sort();
    expect(await files(found)).toEqual(shown);
  });

  it('are found by their prefix when the manifest is broken', async () => {
    const { found } = await discover(SKILLS, {}, (folder) =>
      writeFiles(folder, { 'project/_bmad/_config/skill-manifest.csv': '"canonicalId\n' }),
    );
    expect(await files(found)).toEqual([...SHOWN, '_config/skill-manifest.csv']);
  });
});

describe('modes', () => {
  const ALL = [
    'project/_bmad/_config/manifest.yaml',
    'p/agents/a.md',
    'r/_config/manifest.yaml',
    'home/.bmad/_config/manifest.yaml',
    'home/.claude/skills/bmad-x/SKILL.md',
    'home/.claude/skills/other/SKILL.md',
  ];
  const PROJECT = 'project 1 Project: project/_bmad';
  const USER = ['user 4 User: home/.bmad', 'user 4.5 User skills: home'];

  it.each([
    ['auto', [PROJECT, 'cli 2 Path: p', 'env 3 BMAD_ROOT: r', ...USER]],
    ['local', [PROJECT]],
    ['user', USER],
    ['strict', []],
  ] as const)('%s', async (mode, expected) => {
    const { list, found } = await discover(ALL, { mode, paths: ['p'], root: 'r' });
    expect(list).toEqual(expected);
    expect(found.warnings).toEqual([]);
  });

  it('do without a project', async () => {
    const { list, found } = await discover(ALL, { project: undefined });
    expect(list).toEqual(USER);
    expect(await files(found, 1)).toEqual(['.claude/skills/bmad-x/SKILL.md']);
  });
});

describe('a folder somebody named', () => {
  it.each([
    ['a project', ['_bmad/_config/manifest.yaml', '.claude/skills/bmad-x/SKILL.md'], '/_bmad', 2],
    ['a BMAD root', ['_config/manifest.yaml', 'bmm/agents/pm.md'], '', 2],
    ['a root of version 4', V4, '', 2],
    ['a module', ['module.yaml', 'skills/bmad-x/SKILL.md'], '', 2],
    ['a module in src', ['src/module.yaml', 'package.json'], '', 1],
    ['a module in a folder', ['modules/acme/module.yaml', 'docs/x.md'], '', 1],
    ['loose agents', ['one.md', 'two.md'], '', 2],
    ['a folder agents', ['agents/one.md'], '', 1],
    ['a folder workflows', ['workflows/one.yaml'], '', 1],
    ['modules without manifests', ['acme/agents/one.md'], '', 1],
    ['skills', ['my-skill/SKILL.md'], '', 1],
  ])('may be %s', async (_what, paths, place, count) => {
    const { list, found } = await discover(below('p', paths), { paths: ['p'] });
    expect(list).toEqual([`cli 2 Path: p${place}`]);
    expect(found.warnings).toEqual([]);
    expect(await files(found)).toHaveLength(count);
    expect((await discover(below('p', paths), { root: 'p' })).list).toEqual([`env 3 BMAD_ROOT: p${place}`]);
  });

  it('may be an install or the package of BMAD itself', async () => {
    const request = { mode: 'auto', project: undefined, root: undefined, git: [], home: '/nowhere' } as const;
    const [install, bmad] = [await installOf('6.12.0'), await realpath(dirname(packageSource))];
    const found = await discoverSources({ ...request, paths: [install, bmad], maxFileBytes: 1_000_000 });
    expect(found.warnings).toEqual([]);
    expect(found.sources.map(({ origin }) => [origin.root, origin.priority])).toEqual([
      [join(await realpath(install), '_bmad'), 2],
      [bmad, 2.1],
    ]);
    const modules = await found.sources[1]?.tree.list('');
    expect(modules?.map(({ name }) => name)).toEqual(['bmm', 'core']);
    expect(await found.sources[1]?.tree.text('core/module.yaml')).toContain('code: core');
  });

  it.each([
    [[], 'there is no such folder'],
    [['p'], 'there is no such folder'],
    [['p/'], 'there is no BMAD content in it'],
    [['p/.env', 'p/README.md', 'p/CHANGELOG.md', 'p/src/main.c'], 'there is no BMAD content in it'],
  ])('that gives nothing is told: %j', async (paths, reason) => {
    const { list, found, folder } = await discover(paths, { paths: ['p'], root: 'p' });
    expect(list).toEqual([]);
    const place = join(folder, 'p');
    expect(found.warnings).toEqual([`Path ${place}: ${reason}`, `BMAD_ROOT ${place}: ${reason}`]);
  });

  it('keeps its rank however many there are', async () => {
    const names = Array.from({ length: 25 }, (_, index) => `p${index}`);
    const paths = names.flatMap((name) => [
      `${name}/_bmad/_config/manifest.yaml`,
      `${name}/b/_cfg/manifest.yaml`,
    ]);
    const { found } = await discover([...paths, 'r/agents/a.md'], { paths: names, root: 'r' });
    const priorities = found.sources.map(({ origin }) => origin.priority);
    expect(priorities).toHaveLength(51);
    expect(priorities).toEqual([...new Set(priorities)].sort((a, b) => a - b));
    expect(priorities.at(-1)).toBe(3);
    expect(priorities.slice(0, 3)).toEqual([2, 2.01, 2.04]);
  });
});
