import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { repository } from '../../tests/support/app.ts';
import { CLI_PROGRAM, SERVER_PROGRAM, VERSION } from './product.ts';

it('has the version and the program names of package.json', async () => {
  const { version, bin } = JSON.parse(await readFile(join(repository, 'package.json'), 'utf8')) as {
    version: string;
    bin: Record<string, string>;
  };
  expect(VERSION).toBe(version);
  expect(Object.keys(bin).sort()).toEqual([CLI_PROGRAM, SERVER_PROGRAM].sort());
});
