import * as nodeModule from 'node:module';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../support/app.ts';
import { bareEnvironment, bmad } from '../support/programs.ts';

/** Later ones do this themselves. */
const ours = !('enableCompileCache' in nodeModule);

describe.skipIf(!ours)('the compiled programs', () => {
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
    // Of an earlier build.
    await writeFile(join(folder, 'shared.cjs.0000000000000000'), 'old');
    for (const wrong of [damaged, bytes.subarray(0, 9_000), Buffer.alloc(0)]) {
      await writeFile(path, wrong);
      expect(await version()).toEqual(right);
      expect(await readdir(folder)).toEqual([name]);
      expect((await readFile(path)).length).toBeGreaterThan(50_000);
    }
    // What imports a module is compiled each time.
    for (const text of ['Said for the first time', 'Said for the second time']) {
      const { code, stderr } = await bmad(['memory', 'remember', 'decisions', 'dev', text], { cwd, env });
      expect([code, stderr]).toEqual([0, '']);
    }
    expect((await readdir(folder)).map((each) => each.split('.')[0])).toContain('masking');
    expect((await readdir(folder)).filter((each) => each.startsWith('memory.'))).toEqual([]);
    const other = { ...env, NODE_DISABLE_COMPILE_CACHE: '1', NODE_COMPILE_CACHE: join(cwd, 'unused') };
    expect((await bmad(['--version'], { cwd, env: other })).code).toBe(0);
    expect(await readdir(cwd)).not.toContain('unused');
  });
});
