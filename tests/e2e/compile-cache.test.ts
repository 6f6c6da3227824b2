import * as nodeModule from 'node:module';
import { chmod, mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../support/app.ts';
import { bareEnvironment, bmad } from '../support/programs.ts';

/** Later ones do this themselves. */
const ours = !('enableCompileCache' in nodeModule);

describe.skipIf(!ours)('the compiled programs', () => {
  it.skipIf(process.platform === 'win32')(
    'are not taken from a folder that others may write to',
    async () => {
      const cwd = await temporaryFolder(onTestFinished);
      for (const open of ['.', `${process.version}-${process.arch}`]) {
        const top = join(cwd, open === '.' ? 'whole' : 'part');
        await mkdir(join(top, open), { recursive: true, mode: 0o700 });
        await chmod(join(top, open), 0o777);
        const env = bareEnvironment(await temporaryFolder(onTestFinished), { NODE_COMPILE_CACHE: top });
        expect(await bmad(['--version'], { cwd, env })).toMatchObject({ code: 0, stderr: '' });
        expect((await readdir(top, { recursive: true })).filter((path) => path.includes('.cjs'))).toEqual([]);
      }
    },
  );

  it('are kept for the next start, and made again where they are damaged', async () => {
    const cwd = await temporaryFolder(onTestFinished);
    const top = join(cwd, 'compiled');
    const env = bareEnvironment(await temporaryFolder(onTestFinished), { NODE_COMPILE_CACHE: top });
    const version = async () => {
      const { code, stdout, stderr } = await bmad(['--version'], { cwd, env });
      return { code, stdout: stdout.toString('utf8'), stderr };
    };
    const right = await version();
    const folder = join(top, `${process.version}-${process.arch}`);
    const [name = ''] = await readdir(folder);
    expect(name).toMatch(/^shared\.cjs\.[0-9a-f]{16}$/);
    const path = join(folder, name);
    if (process.platform !== 'win32') expect((await stat(path)).mode & 0o077).toBe(0);

    const bytes = await readFile(path);
    const damaged = Buffer.from(bytes);
    damaged.fill(0xff, 5_000, 6_000);
    const made = async (names: readonly string[], days: number): Promise<void> => {
      for (const each of names) {
        await writeFile(join(folder, each), 'of another start');
        const time = new Date(Date.now() - days * 24 * 60 * 60_000);
        await utimes(join(folder, each), time, time);
      }
    };
    const draft = (start: number): string => `${name}.0000000${start}.tmp`;
    const build = (digit: number): string => `shared.cjs.${String(digit).repeat(16)}`;
    // Of installs that take turns with this one, and of a start beside it.
    const others = [build(1), build(2), build(3)];
    await made([...others, draft(1)], 0);
    // Of earlier builds, and of a start that was killed.
    await made([build(4), draft(2)], 1);
    await made([build(5)], 50);
    for (const wrong of [damaged, bytes.subarray(0, 9_000), Buffer.alloc(0)]) {
      await writeFile(path, wrong);
      expect(await version()).toEqual(right);
      expect((await readdir(folder)).sort()).toEqual([name, draft(1), ...others].sort());
      expect((await readFile(path)).length).toBeGreaterThan(50_000);
    }
    for (const each of [...others, draft(1)]) await rm(join(folder, each));
    // What imports a module is compiled each time.
    for (const [text, told] of [
      [
        'Said for the first time',
        /^The state of this project is kept in .*, for you alone on this machine.*\n.*\n$/,
      ],
      ['Said for the second time', /^If the new one replaces it: .*\nIf both hold: .*\n$/],
    ] as const) {
      const { code, stderr } = await bmad(['memory', 'remember', 'decisions', 'dev', text], { cwd, env });
      expect(code).toBe(0);
      expect(stderr).toMatch(told);
    }
    expect((await readdir(folder)).map((each) => each.split('.')[0])).toContain('masking');
    expect((await readdir(folder)).filter((each) => each.startsWith('memory.'))).toEqual([]);
    const other = { ...env, NODE_DISABLE_COMPILE_CACHE: '1', NODE_COMPILE_CACHE: join(cwd, 'unused') };
    expect((await bmad(['--version'], { cwd, env: other })).code).toBe(0);
    expect(await readdir(cwd)).not.toContain('unused');
  });
});
