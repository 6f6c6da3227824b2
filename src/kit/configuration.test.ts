import { createRequire, syncBuiltinESMExports } from 'node:module';
import { expect, it, onTestFinished, vi } from 'vitest';
import { temporaryFolder } from '../../tests/support/app.ts';
import { writeFiles } from '../../tests/support/folders.ts';
import { configTable } from './configuration.ts';

const require = createRequire(import.meta.url);
const promises = require('node:fs/promises') as Record<'open', unknown>;
const plain = require('node:fs') as Record<'openSync', unknown>;

it('a configuration that could not be read once, such as one that another program locks, is read again', async () => {
  const root = await temporaryFolder(onTestFinished);
  await writeFiles(root, { 'config.yaml': 'output_folder: docs\n' });
  // Old enough to be kept.
  vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 60_000);
  const [{ open }, { openSync }] = [promises, plain];
  const use = (one: unknown, other: unknown): void => {
    promises.open = one;
    plain.openSync = other;
    syncBuiltinESMExports();
  };
  onTestFinished(() => {
    use(open, openSync);
    vi.restoreAllMocks();
  });
  const locked = (): never => {
    throw Object.assign(new Error('locked'), { code: 'EBUSY' });
  };
  use(locked, locked);
  expect(await configTable(root, 'config.yaml')).toBeUndefined();
  use(open, openSync);
  expect(await configTable(root, 'config.yaml')).toEqual({ output_folder: 'docs' });
});
