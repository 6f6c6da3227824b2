import { execFile } from 'node:child_process';
import { readdir, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { memoryStatus } from '../../src/operations/memory/memory-operations.ts';
import { recallStructured } from '../../src/operations/memory/recall-structured.ts';
import { rememberStructured } from '../../src/operations/memory/remember.ts';
import { cliFile, homeBeside, temporaryFolder } from '../support/app.ts';
import { makeReadOnly, smallDisk } from '../support/disks.ts';
import { KIT_FILES, writeFiles } from '../support/kit-project.ts';
import { sessionIn, type OpenSession } from '../support/operations.ts';
import { some } from '../support/how-much.ts';

/** Both keep the same lines. */
const ENGINES = ['sqlite', 'memory'] as const;
const NO_MOUNTS = 'this user may not mount file systems here';
const given = (text: string) => ({ type: 'decisions', agent: 'dev', text });
const run = promisify(execFile);

/** A memory that a process of its own has made, which has ended since. */
async function rememberElsewhere(folder: string, engine: string, text: string): Promise<void> {
  const args = [cliFile, 'memory', 'remember', 'decisions', 'dev', text, '--embedder', 'none'];
  await run(process.execPath, [...args, '--memory-engine', engine], {
    cwd: folder,
    env: { HOME: homeBeside(folder), PATH: process.env['PATH'] },
  });
}

async function idsIn(session: OpenSession, query: string): Promise<unknown[]> {
  const { data } = await session.ok(recallStructured, { query });
  return (data['hits'] as { id: string; stored: boolean }[]).filter(({ stored }) => stored);
}

describe.each(some(1, ENGINES))(
  'memories in a folder that may only be read, with the index %s,',
  (engine) => {
    const flags = { embedder: 'none', memoryEngine: engine } as const;

    it('is read, and says why nothing can be written', async (context) => {
      const folder = await temporaryFolder(onTestFinished);
      await writeFiles(folder, KIT_FILES);
      await rememberElsewhere(folder, engine, 'Zebras are written down before the lock');
      if (!(await makeReadOnly(folder, onTestFinished))) return context.skip(NO_MOUNTS);
      const session = await sessionIn(folder, { flags });
      expect(await idsIn(session, 'zebras lock')).toHaveLength(1);
      const error = await session.fail(rememberStructured, given('This cannot be written down'));
      expect(error.code).toBe('unavailable');
      expect(error.message).toMatch(/is read-only/);
      expect(error.message).not.toMatch(/unfinished|[0-9a-f]{12}\.json/);
      expect(error.hint).toMatch(/write access/);
      const { data } = await session.ok(memoryStatus);
      expect(data).toMatchObject({ engine, memories: 1, degraded: true });
      expect(String(data['notes'])).toMatch(/is read-only.*Give the user.*write access/);
      session.close();
    });
  },
);

it('says why nothing can be remembered where there is no store and none can be made', async (context) => {
  const folder = await temporaryFolder(onTestFinished);
  await writeFiles(folder, KIT_FILES);
  if (!(await makeReadOnly(folder, onTestFinished))) return context.skip(NO_MOUNTS);
  const session = await sessionIn(folder, { flags: { embedder: 'none' } });
  const error = await session.fail(rememberStructured, given('This cannot be written down'));
  expect(error.text).toMatch(/is read-only.*write access/s);
  const { answer } = await session.ok(recallStructured, { query: 'cache redis' });
  expect(answer.body).toContain('fullstack-dev.md:5');
  session.close();
});

describe.each(some(1, ENGINES))('memories on a disk that is full, with the index %s,', (engine) => {
  it.for([
    ['to the last block', 0],
    ['but for some blocks', 16_384],
  ] as const)('%s keeps what it has, says so, and goes on when there is room', async ([, left], context) => {
    const folder = await smallDisk(1_024, onTestFinished);
    if (folder === undefined) return context.skip(NO_MOUNTS);
    await writeFiles(folder, KIT_FILES);
    const flags = { embedder: 'none', memoryEngine: engine } as const;
    const session = await sessionIn(folder, { flags });
    await session.ok(rememberStructured, given('Giraffes were remembered while there was room'));
    const ballast = join(folder, 'ballast');
    await writeFile(ballast, Buffer.alloc(2_000_000)).catch(() => undefined);
    await truncate(ballast, (await stat(ballast)).size - left);
    const long = `Elephants need room. ${'Much more of it is needed here. '.repeat(3_000)}`;
    const error = await session.fail(rememberStructured, given(long));
    expect(error).toMatchObject({ code: 'unavailable' });
    expect(error.text).toMatch(/the disk is full|I\/O error/);
    expect(error.text).toMatch(/space/);
    expect(await idsIn(session, 'giraffes room')).toHaveLength(1);
    const names = await readdir(folder, { recursive: true });
    expect(names.filter((name) => name.endsWith('.lock'))).toEqual([]);
    session.close();

    const again = await sessionIn(folder, { flags });
    expect(await idsIn(again, 'elephants')).toEqual([]);
    await rm(ballast);
    await again.ok(rememberStructured, given(long));
    await again.ok(rememberStructured, given('Lions come after the ballast'));
    for (const word of ['giraffes', 'elephants', 'lions']) expect(await idsIn(again, word)).toHaveLength(1);
    again.close();
    // What is left of the refused one is no part of the store, also for whoever reads it all from the start.
    const last = await sessionIn(folder, { flags });
    const { data } = await last.ok(memoryStatus);
    expect(data).toMatchObject({ engine, memories: 3, degraded: false, notes: [] });
    last.close();
  });
});
