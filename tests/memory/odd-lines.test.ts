import fc from 'fast-check';
import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { JsonlStore } from '../../src/services/memory/jsonl/store.ts';
import { temporaryFolder } from '../support/app.ts';
import { askAll, GOOD, texts, tryWriting } from './ask-all.ts';
import { memory, storeOptions, uuid } from './places.ts';

const TEN_MEGABYTES = 10 * 1024 * 1024;

describe('a log of memories with lines that this server has not written', () => {
  const openLog = (file: string) => new JsonlStore({ ...storeOptions(), file });

  async function logWith(...lines: string[]): Promise<string> {
    const file = join(await temporaryFolder(afterAll), 'memories.jsonl');
    await openLog(file).upsert(GOOD);
    await appendFile(file, lines.map((line) => `${line}\n`).join(''));
    return file;
  }

  const put = (fields: object, more: object = {}): string =>
    JSON.stringify({
      put: {
        entry: {
          type: 'decisions',
          id: 'odd',
          agent: 'atlas',
          text: 'Redis is what this odd line is about.',
          tags: [],
          project: 'bmad-shop',
          createdAt: '2026-03-05T10:00:00.000Z',
          updatedAt: '2026-03-05T10:00:00.000Z',
          revision: 1,
          ...fields,
        },
        revisions: [],
        ...more,
      },
      reset: true,
    });

  it('leaves out a memory of ten megabytes, and tells of it (N-04)', async () => {
    const store = openLog(await logWith(put({ text: 'Redis '.repeat(TEN_MEGABYTES / 6) })));
    const { listed, count, health } = await askAll(store);
    expect({ listed, count }).toEqual({ listed: texts(GOOD), count: 3 });
    expect(health).toMatchObject({ damaged: true, degraded: true });
    await expect(tryWriting(store)).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('passes over a line that is longer than any of ours, and reads those after it (N-04)', async () => {
    const file = await logWith('x'.repeat(20 * 1024 * 1024), put({}));
    const store = openLog(file);
    expect((await askAll(store)).count).toBe(4);
    expect(await store.health()).toMatchObject({ damaged: true });
    await store.upsert([memory('new', 'Redis was written to after all of this.')]);
    expect(await openLog(file).count({})).toBe(5);
    expect((await readFile(file)).length).toBeGreaterThan(20 * 1024 * 1024);
  });

  it('answers for whatever is in a line, and serves the rest (N-05)', async () => {
    const names =
      'type id agent text tags project createdAt updatedAt revision forgottenAt supersededBy supersededAt';
    const entry = fc.dictionary(fc.constantFrom(...names.split(' ')), fc.jsonValue({ maxDepth: 2 }), {
      minKeys: 1,
    });
    const revisions = fc.oneof(fc.constant([]), fc.array(fc.jsonValue({ maxDepth: 2 })), fc.jsonValue());
    const vector = fc.record({
      key: fc.jsonValue(),
      revision: fc.jsonValue(),
      space: fc.jsonValue(),
      vector: fc.jsonValue(),
    });
    const line = fc.oneof(
      fc.tuple(entry, revisions).map(([fields, wordings]) => put(fields, { revisions: wordings })),
      fc.oneof(vector, fc.jsonValue()).map((value) => JSON.stringify(value)),
      fc.constant(
        JSON.stringify({
          key: `decisions/${uuid('a')}`,
          revision: 1,
          space: 'hashed-words#32',
          vector: 'AAAA',
        }),
      ),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 5 }), async (lines) => {
        const store = openLog(await logWith(...lines));
        const { listed, count, stats } = await askAll(store);
        for (const good of GOOD) expect(listed).toContain(good.text);
        expect(stats.live).toBe(count);
        await store.upsert([memory('new', 'Redis was written to after all of this.')]);
        expect(await store.count({})).toBe(count + 1);
      }),
      { numRuns: 40 },
    );
  });
});
