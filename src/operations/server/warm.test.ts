import { chmod, mkdir, readdir, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contextIn, homeBeside, temporaryFolder, testCall } from '../../../tests/support/app.ts';
import { writeTree } from '../../../tests/support/generated-tree.ts';
import { openSession } from '../../../tests/support/operations.ts';
import { execute } from '../execute.ts';
import type { AnyOperation } from '../operation.ts';
import { doctor } from './doctor.ts';
import { cacheClear, warm } from './kept.ts';
import { isDeep, rounds } from '../../../tests/support/how-much.ts';

/** For what is kept, just large enough. */
const WORKFLOWS = rounds(1, 680);

let folder = '';
let cache = '';
beforeAll(async () => {
  folder = await temporaryFolder(afterAll);
  await writeTree(folder, WORKFLOWS);
  cache = join(homeBeside(folder), '.cache', 'bmad-mcp-server');
});

/** What a process does that has just been started. */
async function started(operation: AnyOperation, args: Record<string, unknown> = {}, env = {}) {
  const told: string[] = [];
  const context = await contextIn(folder, { env });
  const call = { ...testCall(), progress: (message: string) => void told.push(message) };
  const outcome = await execute(operation, args, context, call);
  if (!outcome.ok) throw outcome.error;
  return { data: outcome.data, answer: outcome.answer, told };
}

describe('warm', () => {
  it.runIf(isDeep)('makes and keeps what the next process needs, and says what and how much', async () => {
    const first = await started(warm);
    expect(first.data).toMatchObject({
      project: folder,
      readings: [{ origin: 'Project', restored: false }],
      index: { restored: false },
    });
    expect(first.told).toEqual(['reading the content', expect.stringMatching(/^indexing \d+ records$/)]);
    // What was written a moment ago is kept the next time.
    await expect
      .poll(async () => (await started(warm)).data)
      .toMatchObject({
        readings: [{ restored: true, kept: true }],
        index: { restored: true, kept: true, records: expect.any(Number), vectors: expect.any(Number) },
        cache: {
          parts: [
            { part: 'catalogue', files: 1 },
            { part: 'search', files: 1 },
          ],
        },
      });
    expect((await started(warm)).answer.body).toMatch(
      /^- Project: \d+ records from \d+ files and folders, as kept\n- Search: .+, as kept\nCache: at most 24 files and 512 MiB/,
    );
  });

  it.runIf(isDeep)('says that nothing is kept where the cache cannot be made', async () => {
    const blocked = join(folder, 'blocked');
    await writeFile(blocked, 'no folder');
    const { data, answer } = await started(warm, {}, { BMAD_CACHE: blocked });
    expect(data).toMatchObject({ readings: [{ kept: false }], index: { restored: false, kept: false } });
    expect(answer.body).toContain('made, not kept');
  });

  // Permissions of others are a matter of POSIX; which folders count is in `private-folder.test.ts`.
  it.skipIf(!isDeep || process.platform === 'win32')(
    'neither reads nor keeps where others can write',
    async () => {
      const shared = join(folder, 'shared');
      for (const part of ['catalogue', 'search']) {
        await mkdir(join(shared, part), { recursive: true });
        await chmod(join(shared, part), 0o777);
      }
      const { data } = await started(warm, {}, { BMAD_CACHE: shared });
      expect(data).toMatchObject({ readings: [{ kept: false }], index: { restored: false, kept: false } });
      expect(await readdir(join(shared, 'search'))).toEqual([]);
    },
  );

  it.runIf(isDeep)(
    'makes again what is damaged, which the doctor shows with the way to clear it all',
    async () => {
      const [name = ''] = await readdir(join(cache, 'search'));
      await truncate(join(cache, 'search', name), 1_000);
      const { data, answer } = await started(doctor, { handshake: false });
      expect(data).toMatchObject({
        ok: true,
        cache: { parts: [{ damaged: 0 }, { damaged: 1, outdated: 0, folder: join(cache, 'search') }] },
      });
      expect(answer.body).toContain('1 damaged');
      expect(answer.steps).toContainEqual(expect.objectContaining({ operation: 'cache_clear' }));
      expect((await started(warm)).data).toMatchObject({
        readings: [{ restored: true }],
        index: { restored: false, kept: true },
        cache: { parts: [{ damaged: 0 }, { damaged: 0 }] },
      });
      expect((await started(cacheClear)).data).toMatchObject({ files: 2 });
      expect((await started(cacheClear)).data).toEqual({ files: 0, bytes: 0 });
    },
  );

  it('is refused where nothing may be written', async () => {
    await expect(started(warm, {}, { BMAD_READ_ONLY: 'true' })).rejects.toThrow(/read-only/i);
  });

  it('keeps nothing of what is small', async () => {
    const session = await openSession(afterAll);
    const { data, answer } = await session.ok(warm);
    expect(answer.body).toContain('Cache: empty');
    expect(data).toMatchObject({ readings: [], index: { restored: false, kept: false } });
    expect((await session.ok(doctor, { handshake: false })).answer.body).not.toContain('Cache');
  });
});
