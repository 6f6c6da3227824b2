import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { installOf } from '../support/installs.ts';
import { withoutV4Loading } from '../../src/services/delivery/v4-task.ts';

const tasks = join(await installOf('4.44.3'), '.bmad-core/tasks');
const textOf = (name: string): Promise<string> => readFile(join(tasks, `${name}.md`), 'utf8');
const config = (...given: string[]) => ({
  path: '.bmad-core/core-config.yaml',
  gives: (name: string) => given.includes(name),
});
const ALL = ['devStoryLocation', 'prd.*', 'architecture.*', 'workflow.*'];

describe('a task of version 4', () => {
  it.each(['create-next-story', 'validate-next-story'])(
    'comes without the loading of its configuration, if all of that is given: %s',
    async (name) => {
      const text = await textOf(name);
      const lean = withoutV4Loading(text, config(...ALL));
      const done = '[Done: `.bmad-core/core-config.yaml` is loaded, see Values.]\n';
      expect(lean).toContain(`### 0. Load Core Configuration`);
      expect(lean).toContain(done);
      expect(lean).not.toContain('HALT and inform the user: "core-config.yaml');
      // Whatever else the step asks for stays.
      expect(lean.includes('Identify and load the following inputs')).toBe(name === 'validate-next-story');
      expect(lean.split('\n').filter((line) => !text.includes(line))).toEqual([done.trim()]);
      expect(withoutV4Loading(text, config('devStoryLocation', 'prd.*'))).toBe(text);
      expect(withoutV4Loading(text, { ...config(...ALL), path: '.bmad-game/core-config.yaml' })).toBe(text);
      expect(withoutV4Loading(text, undefined)).toBe(text);
    },
  );

  it('does not have its reader stop for want of a program', async () => {
    const text = await textOf('shard-doc');
    const lean = withoutV4Loading(text, config());
    expect(lean).toContain('attempt to run the command: `md-tree explode {input file} {output path}`');
    expect(lean).toContain(
      '[No `md-tree`? Do not stop, and leave core-config.yaml alone: take the Manual Method.]',
    );
    expect(lean).not.toContain('STOP HERE');
    expect(lean).toContain('## Manual Method');
    expect(text.length - lean.length).toBeGreaterThan(800);
    const changed = text.replace('STOP HERE', 'WAIT HERE');
    expect(withoutV4Loading(changed, config())).toBe(changed);
  });
});
