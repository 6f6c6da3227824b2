import { createRequire, syncBuiltinESMExports } from 'node:module';
import { expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { processList } from './file-state.ts';

const require = createRequire(import.meta.url);
const promises = require('node:fs/promises') as Record<'open', unknown>;
const plain = require('node:fs') as Record<'openSync', unknown>;

it('a process stays on the list when its file cannot be read for a moment', async () => {
  const entry = { pid: process.pid, started: '2026-01-01' };
  const list = processList(
    await temporaryFolder(onTestFinished),
    z.object({ pid: z.int(), started: z.string() }),
  );
  await list.add(entry);
  const [{ open }, { openSync }] = [promises, plain];
  const use = (one: unknown, other: unknown): void => {
    promises.open = one;
    plain.openSync = other;
    syncBuiltinESMExports();
  };
  onTestFinished(() => use(open, openSync));
  const locked = (): never => {
    throw Object.assign(new Error('locked'), { code: 'EBUSY' });
  };
  use(locked, locked);
  expect(await list.running()).toEqual([]);
  use(open, openSync);
  expect(await list.running()).toEqual([entry]);
});
