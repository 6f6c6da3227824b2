import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { localDay } from '../../src/base/text/text.ts';
import { temporaryFolder } from '../support/app.ts';
import { keyOf, memory } from './places.ts';
import { openLines, partsOf, type IndexKind } from './processes.ts';

/** Ten years ahead, on a machine whose clock is wrong. */
const THEN = new Date(Date.now() + 10 * 366 * 24 * 60 * 60_000);
const OURS = memory('a', 'Sessions are kept in Redis.', { vector: undefined });
const KEY = keyOf(OURS);

const line = (id: string, does: string, data: object): string =>
  `${JSON.stringify({
    v: 1,
    id,
    at: THEN.toISOString(),
    machine: 'else',
    by: { kind: 'local', name: 'bob' },
    events: [{ of: `memory/${KEY.type}/${KEY.id}`, after: [], do: does, data }],
  })}\n`;

const wording = { text: 'Sessions are kept in the future.', agent: 'bob', tags: [] };

describe.each(['sqlite', 'memory'] as IndexKind[])(
  'a line of a clock that is ten years ahead, with the index %s,',
  (kind) => {
    async function storeWith(text: string) {
      const folder = await temporaryFolder(onTestFinished);
      const first = await openLines(kind, folder);
      await first.upsert([OURS]);
      await first.close();
      const { lines, index } = partsOf(folder);
      await mkdir(join(lines, localDay(THEN)), { recursive: true });
      await writeFile(join(lines, localDay(THEN), 'else-0123456789ab.jsonl'), text);
      const open = async () => {
        const store = await openLines(kind, folder);
        onTestFinished(() => store.close());
        return store;
      };
      /** As another reader sees it that knows nothing yet. */
      const anew = async () => {
        await rm(index, { force: true });
        return open();
      };
      return { lines, store: await open(), open, anew };
    }

    it('counts only until somebody writes who has seen it', async () => {
      const { store, anew } = await storeWith(line('zfuture', 'remember', wording));
      // Neither knew of the other: both texts are found, and the order is that of their times.
      expect(await store.get(KEY)).toMatchObject({ text: wording.text, others: [OURS.text] });
      const at = new Date().toISOString();
      await store.update(KEY, { text: 'Sessions are kept in Valkey.', at });
      for (const each of [store, await anew()]) {
        const entry = await each.get(KEY);
        expect(entry).toMatchObject({ text: 'Sessions are kept in Valkey.' });
        expect(entry).not.toHaveProperty('others');
        expect(await each.revisions(KEY)).toHaveLength(2);
        expect(await each.search({ terms: ['future'], filter: {}, limit: 5 })).toEqual([]);
        await each.close();
      }
    });

    it('that forgets is undone like any other', async () => {
      const forgottenAt = THEN.toISOString();
      const { store, anew } = await storeWith(line('zfuture', 'forget', { ...wording, forgottenAt }));
      expect(await store.count({})).toBe(0);
      await store.restore([KEY]);
      expect(await store.count({})).toBe(1);
      expect(await (await anew()).count({})).toBe(1);
    });

    it('hinders neither the lines of today nor those who read them', async () => {
      const { lines, store, open } = await storeWith(line('zfuture', 'remember', wording));
      const other = await open();
      expect(await other.count({})).toBe(1);
      await store.upsert([memory('b', 'Written on the day that it is.', { vector: undefined })]);
      expect(await other.count({})).toBe(2);
      expect((await readdir(lines)).filter((name) => name.startsWith('2')).sort()).toEqual([
        localDay(new Date()),
        localDay(THEN),
      ]);
    });
  },
);
