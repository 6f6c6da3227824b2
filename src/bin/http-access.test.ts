import { chmod, mkdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { contextIn, outsideHere, temporaryFolder } from '../../tests/support/app.ts';
import { refusal } from '../../tests/support/thrown.ts';
import type { Outside } from '../app/app.ts';
import { userStateFolder } from '../config/locations.ts';
import { type Access, decideAccess } from './http-access.ts';

const TOKEN = 'token-of-this-test-0123456789';
/** An account that nothing else has. */
const SOMEBODY = 20_013;
const WINDOWS = process.platform === 'win32';

async function machine(flags: Outside['flags'] = {}): Promise<{
  file: string;
  keep: string;
  written: string[];
  decide(newToken?: boolean): Promise<Access>;
}> {
  const folder = await temporaryFolder(onTestFinished);
  const outside = outsideHere({ cwd: folder, home: join(folder, 'home'), flags });
  const context = await contextIn(folder, { flags, home: outside.home });
  const keep = join(userStateFolder(outside), 'http-token');
  return {
    file: join(folder, 'tokens.txt'),
    keep,
    written: context.written,
    decide: (newToken = false) => decideAccess(context, { outside, newToken, resource: () => '' }),
  };
}

async function tokenIn(file: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${TOKEN}\n`);
  await chmod(file, 0o644);
}

describe('a new token', () => {
  it.each<Outside['flags']>([
    { httpToken: TOKEN },
    { httpTokenFile: 'tokens.txt' },
    { oauthIssuer: 'https://id.example' },
  ])('is not made where another one is asked for: %j', async (flags) => {
    const { decide, file } = await machine(flags);
    await tokenIn(file);
    expect((await refusal(() => decide(true))).message).toContain('--new-token');
  });
});

describe('a file with tokens', () => {
  it('has to be there', async () => {
    const { decide, file } = await machine({ httpTokenFile: 'tokens.txt' });
    const { message, hint } = await refusal(() => decide());
    expect(message).toBe(`There is no file ${file}.`);
    expect(hint).toContain('--http-token-file');
  });

  it('has lines that are misspelt: they are named, and their tokens open nothing', async () => {
    const { decide, file, written } = await machine({ httpTokenFile: 'tokens.txt' });
    const lines = [
      TOKEN,
      'token-of-eve-0123456789 raed',
      'token-of-bob-0123456789 read project=/no/such/shop',
    ];
    await writeFile(file, lines.join('\n'), { mode: 0o600 });
    const { gate, trouble } = await decide();
    const admitted = async (token: string) => gate.admit(`Bearer ${token}`);
    expect(await admitted(TOKEN)).toMatchObject({ known: 'token', mayWrite: true });
    expect(await admitted('token-of-eve-0123456789')).toMatchObject({ status: 401 });
    expect(await admitted('token-of-bob-0123456789')).toMatchObject({ mayWrite: false });
    expect(await trouble?.()).toBe('The token file has lines that are not valid: 2.');
    expect(written.join('')).toMatch(/lines of the token file are not valid.*2/s);
    expect(written.join('')).toMatch(/names missing projects.*\/no\/such\/shop/s);
  });

  it.skipIf(WINDOWS)('that others can read is named, and left as it is', async () => {
    const { decide, file, written } = await machine({ httpTokenFile: 'tokens.txt' });
    await tokenIn(file);
    await decide();
    expect(written.join('')).toContain('can read the token file');
    expect((await stat(file)).mode & 0o777).toBe(0o644);
    written.length = 0;
    await chmod(file, 0o600);
    await decide();
    expect(written).toEqual([]);
  });

  it.skipIf(WINDOWS)('that the server keeps is for its user only, whatever it was', async () => {
    const { decide, keep, written } = await machine({ httpAuth: 'token' });
    await tokenIn(keep);
    await decide();
    expect((await stat(keep)).mode & 0o777).toBe(0o600);
    expect(written.join('')).toContain('--new-token');
  });

  // Only root can be somebody else, who may not change the rights of a file.
  it.skipIf(process.getuid?.() !== 0)(
    'that cannot be made private is named, and the start goes on',
    async () => {
      const { decide, file, keep, written } = await machine({ httpAuth: 'token' });
      await tokenIn(keep);
      await chmod(dirname(dirname(file)), 0o711);
      for (let place = dirname(keep); place !== dirname(dirname(file)); place = dirname(place))
        await chmod(place, 0o755);
      onTestFinished(() => process.seteuid?.(0));
      process.seteuid?.(SOMEBODY);
      expect(String((await decide()).whom)).toContain('with the token');
      expect(written.join('')).toContain('cannot be made private');
      expect(written.join('')).toContain(keep);
    },
  );

  it
    .skipIf(WINDOWS)
    .each<Outside['flags']>([
      {},
      { httpToken: TOKEN },
      { oauthIssuer: 'https://id.example', publicUrl: 'https://bmad.example' },
    ])('that the server keeps is not looked at where it is not used: %j', async (flags) => {
    const { decide, keep, written } = await machine(flags);
    await tokenIn(keep);
    await decide();
    expect((await stat(keep)).mode & 0o777).toBe(0o644);
    expect(written).toEqual([]);
  });
});
