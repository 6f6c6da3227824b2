import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../tests/support/app.ts';
import { writeFiles } from '../../tests/support/folders.ts';
import { configInWords } from '../../tests/support/said.ts';
import { refusal } from '../../tests/support/thrown.ts';
import { extractSettings, parseFlags } from './flags.ts';
import type { RawSettings } from './schema.ts';

interface Layers {
  flags?: RawSettings;
  env?: Record<string, string>;
  project?: string;
  user?: string;
}

async function load({
  flags = {},
  env = {},
  project = '',
  user = '',
}: Layers): ReturnType<typeof configInWords> {
  const folder = await temporaryFolder(afterAll);
  await writeFiles(folder, { 'project.toml': project, 'user.toml': user });
  return configInWords({
    flags,
    env,
    files: [
      { label: 'project file', path: join(folder, 'project.toml'), ofProject: true },
      { label: 'user file', path: join(folder, 'user.toml') },
    ],
  });
}

describe('a list of names', () => {
  it.each([
    ['a repeated flag with commas', { flags: { toolsets: ['a,b', ' c '] } }, ['a', 'b', 'c']],
    ['a variable', { env: { BMAD_TOOLSETS: 'a, b,,c' } }, ['a', 'b', 'c']],
    ['a text in a file', { project: 'toolsets = "a,b"' }, ['a', 'b']],
    ['a list in a file', { user: 'toolsets = ["a", "b,c"]' }, ['a', 'b', 'c']],
    ['an empty flag, which leaves none', { flags: { toolsets: [''] } }, []],
    ['nothing', {}, ['bmad', 'project', 'memory']],
  ] satisfies [string, Layers, string[]][])('from %s', async (_what, layers, toolsets) => {
    expect((await load(layers)).config.toolsets).toEqual(toolsets);
  });
});

describe('a switch', () => {
  it.each([
    ['1', true],
    ['true', true],
    ['YES', true],
    ['on', true],
    ['0', false],
    ['false', false],
    ['off', false],
  ])('in a variable is %s', async (text, readOnly) => {
    expect((await load({ env: { BMAD_READ_ONLY: text } })).config.readOnly).toBe(readOnly);
  });

  it('stands alone on the command line, or has a value after an equals sign', () => {
    expect(parseFlags(['--read-only', '--page-size', '3'], []).settings).toEqual({
      readOnly: 'true',
      pageSize: '3',
    });
    expect(parseFlags(['--read-only=false'], []).settings).toEqual({ readOnly: 'false' });
    expect(extractSettings(['--read-only', 'list', 'agents', '--read-only=no'])).toEqual({
      settings: { readOnly: 'no' },
      rest: ['list', 'agents'],
    });
  });

  it.each([
    ['a variable', { env: { BMAD_READ_ONLY: 'maybe' } }, /^environment BMAD_READ_ONLY: "maybe"/],
    ['a file', { user: 'read_only = 2' }, /^user file .*: 2 is not valid for read_only/],
    ['a list in a file', { project: 'exclude_tools = [1]' }, /is not valid for exclude_tools/],
  ])(
    'that is wrong in %s stops the start, for it would leave more switched on',
    async (_what, layers, text) => {
      const error = await refusal(() => load(layers));
      expect(error.code).toBe('invalid_input');
      expect(error.message).toMatch(text);
    },
  );
});

describe('the file of a project', () => {
  it('can take away, but not give back what the user took away', async () => {
    const { config, from } = await load({
      project: 'read_only = false\nexclude_tools = ["a"]',
      user: 'read_only = true\nexclude_tools = ["b"]',
    });
    expect(config.readOnly).toBe(true);
    expect(config.excludeTools).toEqual(['a', 'b']);
    expect(from.readOnly).toMatch(/^project file .* and user file /);
  });

  it('is overridden by flags and variables', async () => {
    const { config } = await load({ flags: { readOnly: 'false' }, project: 'read_only = true' });
    expect(config.readOnly).toBe(false);
  });

  it('can switch read-only on by itself', async () => {
    expect((await load({ project: 'read_only = true' })).config.readOnly).toBe(true);
  });
});
