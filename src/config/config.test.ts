import { mkdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../tests/support/app.ts';
import { writeFiles } from '../../tests/support/folders.ts';
import { refusal } from '../../tests/support/thrown.ts';
import { configInWords } from '../../tests/support/said.ts';
import type { ConfigInput } from './load.ts';
import { userConfigFile } from './locations.ts';

type Layers = Partial<Pick<ConfigInput, 'flags' | 'env' | 'presets'>> & {
  project?: string;
  user?: string;
  ofProject?: true;
};

/** The configuration that real files and the given flags and variables make together. */
async function load({ project, user, ofProject, flags = {}, env = {}, presets = {} }: Layers = {}): Promise<
  Awaited<ReturnType<typeof configInWords>> & { projectFile: string; userFile: string }
> {
  const folder = await temporaryFolder(afterAll);
  const [projectFile, userFile] = [join(folder, 'project.toml'), join(folder, 'user.toml')];
  if (project !== undefined) await writeFiles(folder, { 'project.toml': project });
  if (user !== undefined) await writeFiles(folder, { 'user.toml': user });
  const files = [
    { label: 'project file', path: projectFile, ...(ofProject ? { ofProject } : {}) },
    { label: 'user file', path: userFile },
  ];
  return { ...(await configInWords({ flags, env, presets, files })), projectFile, userFile };
}

const ALL_LAYERS = {
  flags: { pageSize: '11' },
  env: { BMAD_PAGE_SIZE: '12' },
  project: 'page_size = 13',
  user: 'page_size = 14',
  presets: { pageSize: '15' },
};

describe('the order of the layers', () => {
  it.each([
    ['all', ALL_LAYERS, 11, /^flag --page-size$/],
    ['all without flags', { ...ALL_LAYERS, flags: {} }, 12, /^environment BMAD_PAGE_SIZE$/],
    ['files and presets', { ...ALL_LAYERS, flags: {}, env: {} }, 13, /^project file .*project\.toml$/],
    [
      'the user file and presets',
      { user: ALL_LAYERS.user, presets: ALL_LAYERS.presets },
      14,
      /^user file .*user\.toml$/,
    ],
    ['presets', { presets: ALL_LAYERS.presets }, 15, /^command-line default$/],
    ['nothing', {}, 50, /^default$/],
  ])('with %s', async (_what, layers, pageSize, from) => {
    const loaded = await load(layers);
    expect(loaded.config.pageSize).toBe(pageSize);
    expect(loaded.from.pageSize).toMatch(from);
    expect(loaded.warnings).toEqual([]);
  });

  it.each([
    ['the user', { project: 'discovery = "auto"', user: 'discovery = "user"' }, 'user', /^user file/],
    ['the project, if the user says nothing', { project: 'discovery = "local"' }, 'local', /^project file/],
  ])('lets %s decide whether the content of a project is served (S-24)', async (_who, files, mode, by) => {
    const { config, from } = await load({ ...files, ofProject: true });
    expect([config.discovery, from.discovery]).toEqual([mode, expect.stringMatching(by)]);
  });

  it.each([
    [{ BMAD_DEBUG: '1' }, 'debug'],
    [{ BMAD_DEBUG: 'true' }, 'debug'],
    [{ BMAD_DEBUG: '0' }, 'warn'],
    [{ BMAD_DEBUG: '1', BMAD_LOG_LEVEL: 'error' }, 'error'],
  ])('takes the variable by which other servers log more: %j', async (env, level) => {
    expect((await load({ env })).config.logLevel).toBe(level);
  });

  it('is kept for each setting by itself', async () => {
    const { config, from } = await load({
      flags: { logLevel: 'debug' },
      env: { BMAD_DISCOVERY: 'local' },
      project: 'answer_bytes = 5000',
      user: 'answer_bytes = 6000\nroot = "/srv/bmad"',
    });
    // The defaults themselves are in the snapshot of all settings.
    const defaults = (await load()).config;
    expect(config).toEqual({
      ...defaults,
      root: '/srv/bmad',
      discovery: 'local',
      logLevel: 'debug',
      answerBytes: 5_000,
    });
    expect(defaults).toMatchObject({ discovery: 'auto', logLevel: 'warn', answerBytes: 10_000, git: [] });
    expect([from.project, from.answerBytes.split(' ')[0], from.root.split(' ')[0]]).toEqual([
      'default',
      'project',
      'user',
    ]);
  });

  it('does not choose among lists that gather, and remembers who named each entry first', async () => {
    const { config, from, gathered } = await load({
      flags: { git: ['git+https://h/a/flag.git#x y'] },
      env: { BMAD_GIT: 'git+https://h/a/env.git  git+https://h/a/both.git#main' },
      project: 'git = ["git+https://h/a/both.git#main", "git+https://h/a/project.git"]',
      user: 'git = ["git+https://h/a/user.git"]',
      ofProject: true,
    });
    expect(config.git.map((source) => source.replace('git+https://h/a/', ''))).toEqual([
      'flag.git#x y',
      'env.git',
      'both.git#main',
      'project.git',
      'user.git',
    ]);
    expect(gathered.git?.map(({ layer }) => layer)).toEqual([
      'flag',
      'environment',
      'environment',
      'project',
      'project',
      'user',
    ]);
    expect(from.git).toMatch(/^flag --git, environment BMAD_GIT, project file .*, user file /);
    expect((await load({})).from.git).toBe('default');
  });

  it('passes over an empty variable as if it were not set', async () => {
    const { config, from, warnings } = await load({
      env: { BMAD_PAGE_SIZE: '', BMAD_PATHS: '', BMAD_PROJECT_ROOT: '' },
      user: 'page_size = 14',
    });
    expect([config.pageSize, config.paths, config.project]).toEqual([14, [], undefined]);
    expect([from.pageSize.split(' ')[0], from.paths, from.project]).toEqual(['user', 'default', 'default']);
    expect(warnings).toEqual([]);
  });
});

const WRONG_NUMBERS = ['abc', '-5', '0', '201', '1e99', 'NaN', 'Infinity', '1.5', ' ', '9'.repeat(400)];

describe('a value that is not valid', () => {
  it.each([...WRONG_NUMBERS, ''])('as a flag stops the start: %j', async (value) => {
    const error = await refusal(() => load({ flags: { pageSize: value }, env: { BMAD_PAGE_SIZE: '12' } }));
    expect(error.code).toBe('invalid_input');
    expect(error.message).toMatch(/^flag --page-size: ".*" is not valid for page_size\. \S.*\.$/);
    expect(error.hint).toBe('Entries per page of a list.');
  });

  it.each(WRONG_NUMBERS)('as a variable is told by name, and the next layer counts: %j', async (value) => {
    const { config, from, warnings } = await load({
      env: { BMAD_PAGE_SIZE: value },
      project: 'page_size = 13',
    });
    expect(config.pageSize).toBe(13);
    expect(from.pageSize).toMatch(/^project file /);
    expect(warnings).toEqual([
      expect.stringMatching(
        /^environment BMAD_PAGE_SIZE: ".*" is not valid for page_size\. .* It is ignored\.$/,
      ),
    ]);
    expect(warnings[0]?.length).toBeLessThan(400);
  });

  it.each([
    ['"abc"', '"abc"'],
    ['-5', '-5'],
    ['1e99', '1e+99'],
    ['nan', 'NaN'],
    ['-inf', '-Infinity'],
    ['1.5', '1.5'],
    ['true', 'true'],
    ['[1, 2]', '[1,2]'],
    ['{ a = 1 }', '{"a":1}'],
  ])('in a file is told with the file, and the next file counts: %s', async (value, shown) => {
    const { config, from, warnings, projectFile } = await load({
      project: `page_size = ${value}`,
      user: 'page_size = 14',
    });
    expect(config.pageSize).toBe(14);
    expect(from.pageSize).toMatch(/^user file /);
    expect(warnings).toEqual([
      expect.stringContaining(`project file ${projectFile}: ${shown} is not valid for page_size. `),
    ]);
  });

  it('is told once for each layer that has one', async () => {
    const { config, from, warnings } = await load({
      env: { BMAD_DISCOVERY: 'everywhere', BMAD_LOG_LEVEL: 'loud' },
      project: 'discovery = 3',
      user: 'discovery = ""',
    });
    expect([config.discovery, config.logLevel, from.discovery, from.logLevel]).toEqual([
      'auto',
      'warn',
      'default',
      'default',
    ]);
    expect(warnings.map((warning) => warning.slice(0, warning.indexOf(' is not valid')))).toEqual([
      'environment BMAD_DISCOVERY: "everywhere"',
      expect.stringMatching(/^project file .*: 3$/),
      expect.stringMatching(/^user file .*: ""$/),
      'environment BMAD_LOG_LEVEL: "loud"',
    ]);
  });

  it('cannot flood the log or draw on the terminal', async () => {
    const { warnings } = await load({ env: { BMAD_DISCOVERY: `\u001B[2J${'x'.repeat(50_000)}` } });
    expect(warnings[0]?.length).toBeLessThan(400);
    expect(warnings[0]).not.toContain('\u001B');
  });
});

describe('a configuration file', () => {
  it('is told about a key it does not have, with the near one', async () => {
    const { warnings, config, projectFile } = await load({
      project: 'page_sizes = 9\npage_size = 10\n"__proto__" = 1\nzzz = 1\n',
    });
    expect(config.pageSize).toBe(10);
    expect(warnings).toEqual([
      `${projectFile}: unknown key "page_sizes", did you mean page_size?`,
      `${projectFile}: unknown key "__proto__"`,
      `${projectFile}: unknown key "zzz"`,
    ]);
  });

  it('that is not TOML is told with its path and line, and the next file counts', async () => {
    const { warnings, config, projectFile } = await load({
      project: 'log_level = "info"\npage_size = = 3\n',
      user: 'page_size = 14',
    });
    expect([config.pageSize, config.logLevel]).toEqual([14, 'warn']);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain(`${projectFile} is ignored: `);
    expect(warnings[0]).toContain(`${projectFile}:2`);
  });

  it('may be absent, empty, or marked as UTF-8', async () => {
    expect((await load()).warnings).toEqual([]);
    expect((await load({ project: '', user: '# nothing\n' })).warnings).toEqual([]);
    const marked = await load({ project: '\uFEFFpage_size = 13\r\n' });
    expect([marked.config.pageSize, marked.warnings]).toEqual([13, []]);
  });

  it('that is a folder or too large is told and passed over', async () => {
    const folder = await temporaryFolder(afterAll);
    await mkdir(join(folder, 'config.toml'));
    await writeFiles(folder, { 'large.toml': `# ${'x'.repeat(1_000_001)}` });
    const files = ['config.toml', 'large.toml'].map((name) => ({ label: 'file', path: join(folder, name) }));
    const { warnings, from } = await configInWords({ flags: {}, env: {}, files });
    expect(warnings).toEqual([
      expect.stringContaining(`${join(folder, 'config.toml')} is ignored: `),
      expect.stringContaining(`${join(folder, 'large.toml')} is ignored: `),
    ]);
    expect(new Set(Object.values(from))).toEqual(new Set(['default']));
  });

  it.each([
    ['linux', {}, ['/home/ada', '.config', 'bmad-mcp-server', 'config.toml']],
    ['linux', { XDG_CONFIG_HOME: '' }, ['/home/ada', '.config', 'bmad-mcp-server', 'config.toml']],
    ['linux', { XDG_CONFIG_HOME: '/x' }, ['/x', 'bmad-mcp-server', 'config.toml']],
    ['linux', { XDG_CONFIG_HOME: '~/.config' }, ['/home/ada', '.config', 'bmad-mcp-server', 'config.toml']],
    ['win32', { APPDATA: 'x' }, ['/home/ada', 'AppData', 'Roaming', 'bmad-mcp-server', 'config.toml']],
    ['linux', { APPDATA: '/x' }, ['/home/ada', '.config', 'bmad-mcp-server', 'config.toml']],
    ['win32', { APPDATA: '/x' }, ['/x', 'bmad-mcp-server', 'config.toml']],
    ['win32', {}, ['/home/ada', 'AppData', 'Roaming', 'bmad-mcp-server', 'config.toml']],
  ] as const)('of the user lies where %s keeps such files, with %j', (platform, env, place) => {
    expect(userConfigFile({ platform, env, home: '/home/ada' })).toBe(join(...place));
  });
});

describe('a list', () => {
  it.each([
    ['flags', { flags: { paths: ['a', `b${delimiter}c`] } }, ['a', `b${delimiter}c`]],
    ['a variable', { env: { BMAD_PATHS: ['a', '', 'b b', ''].join(delimiter) } }, ['a', 'b b']],
    ['an array in a file', { project: 'paths = ["a", "b"]' }, ['a', 'b']],
    ['a text in a file', { project: `paths = ${JSON.stringify(`a${delimiter}b`)}` }, ['a', 'b']],
    ['an empty array, which hides weaker layers', { project: 'paths = []', user: 'paths = ["a"]' }, []],
    ['a flag, which replaces weaker layers', { flags: { paths: ['a'] }, env: { BMAD_PATHS: 'b' } }, ['a']],
  ])('from %s', async (_what, layers, paths) => {
    const { config, warnings } = await load(layers);
    expect(config.paths).toEqual(paths);
    expect(warnings).toEqual([]);
  });

  it.each(['[1]', '[""]', '["a", 2]', '{ a = "b" }'])('is not %s', async (value) => {
    const { config, warnings } = await load({ project: `paths = ${value}`, user: 'paths = ["u"]' });
    expect(config.paths).toEqual(['u']);
    expect(warnings).toEqual([expect.stringContaining(' is not valid for paths. ')]);
  });
});
