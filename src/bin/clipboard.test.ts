import { chmod, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../tests/support/app.ts';
import { writeFiles } from '../../tests/support/folders.ts';
import { copyText } from './person.ts';

/** A machine on which these are the programs for the clipboard. */
async function machine(programs: Record<string, string>) {
  const [bin, cwd] = [await temporaryFolder(onTestFinished), await temporaryFolder(onTestFinished)];
  const scripts = Object.entries(programs).map(([name, text]) => [
    name,
    `#!/bin/sh\ncd "$(dirname "$0")"\n${text}\n`,
  ]);
  await writeFiles(bin, Object.fromEntries(scripts) as Record<string, string>);
  for (const name of Object.keys(programs)) await chmod(join(bin, name), 0o755);
  const env = { PATH: `${bin}:/usr/bin:/bin` };
  return {
    copy: (text: string) => copyText(text, env, cwd, 'linux'),
    copied: () => readFile(join(bin, 'copied'), 'utf8'),
  };
}

describe.skipIf(process.platform === 'win32')('what goes to the clipboard', () => {
  it('is copied by the first program that works', async () => {
    const here = await machine({ 'wl-copy': 'cat >/dev/null; exit 1', xclip: 'cat > copied' });
    await here.copy('Winston');
    expect(await here.copied()).toBe('Winston');
  });

  it('is copied where the program stays to serve it', async () => {
    const here = await machine({ 'wl-copy': 'cat > copied; exec sleep 20' });
    await here.copy('Winston');
    expect(await here.copied()).toBe('Winston');
  });

  it('is not said to be copied where no program could', async () => {
    const fails = 'cat >/dev/null; exit 1';
    const here = await machine({ 'wl-copy': fails, xclip: fails, xsel: fails, 'clip.exe': fails });
    await expect(here.copy('Winston')).rejects.toThrow('not copied');
  });
});
