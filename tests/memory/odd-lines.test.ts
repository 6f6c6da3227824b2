import fc from 'fast-check';
import { appendFile, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { localDay } from '../../src/base/text/text.ts';
import { temporaryFolder } from '../support/app.ts';
import { some } from '../support/how-much.ts';
import { askAll, GOOD, texts, tryWriting } from './ask-all.ts';
import { memory, uuid } from './places.ts';
import { openLines, partsOf, type IndexKind } from './processes.ts';

/** Files of earlier days are looked at when their folder changes. */
const DAY = localDay(new Date());

const event = (more: object = {}) => ({
  of: `memory/decisions/${uuid('odd')}`,
  after: [],
  do: 'remember',
  data: { text: 'Redis is what this odd line is about.', agent: 'atlas', tags: [] },
  ...more,
});

const line = (more: object = {}, events: unknown = [event()]): string =>
  JSON.stringify({
    v: 1,
    id: '01odd0000000000000000',
    at: '2026-03-05T10:00:00.000Z',
    machine: 'else',
    by: { kind: 'local', name: 'bob' },
    events,
    ...more,
  });

/** So many bytes, in a field that nobody knows. */
function longLine(bytes: number): string {
  const short = line({ more: '' });
  return line({ more: 'x'.repeat(bytes - short.length) });
}

// Lines are read in one way for every index.
describe.each(some(1, ['sqlite', 'memory'] as IndexKind[]))(
  'lines that others have written, with the index %s,',
  (kind) => {
    async function storeWith(text: string | Buffer) {
      const folder = await temporaryFolder(onTestFinished);
      const first = await openLines(kind, folder);
      await first.upsert(GOOD);
      await first.close();
      const day = join(partsOf(folder).lines, DAY);
      await mkdir(day, { recursive: true });
      await writeFile(join(day, 'else-0123456789ab.jsonl'), text);
      const store = await openLines(kind, folder);
      onTestFinished(() => store.close());
      return { folder, store };
    }

    it.each([
      [
        'ten megabytes long',
        line({}, [event({ data: { text: 'Redis '.repeat(1_800_000), agent: 'x', tags: [] } })]),
      ],
      ['ten mebibytes to the byte', longLine(10 * 1024 * 1024)],
      ['a byte longer than that', longLine(10 * 1024 * 1024 + 1)],
      ['one character more than is read', longLine(1_000_001)],
      ['longer than any line of ours', 'x'.repeat(20 * 1024 * 1024)],
      ['no JSON', '{"half of a li'],
      ['of a time that is none', line({ at: 'yesterday' })],
      ['about something without a name', line({}, [event({ of: '' })])],
      ['between zero bytes', `\0\0${line()}\0`],
    ])('that are %s are left out, those after them are read, and that is told (N-04)', async (_, odd) => {
      const { store } = await storeWith(`${odd}\n${line({ id: '01good' })}\n`);
      const { count, health, listed } = await askAll(store);
      expect(count).toBe(4);
      for (const { text } of GOOD) expect(listed).toContain(text);
      expect(health.notes.join()).toContain('1 line that cannot be read');
      await tryWriting(store);
    });

    it('of the greatest length count', async () => {
      const { store } = await storeWith(`${longLine(1_000_000)}\n`);
      expect(await store.count({})).toBe(4);
      expect((await store.health()).notes).toEqual([]);
    });

    it('count when they are whole: half of one is waited for, and read when it is', async () => {
      const { folder, store } = await storeWith(line().slice(0, 80));
      expect(await store.count({})).toBe(3);
      await appendFile(join(partsOf(folder).lines, DAY, 'else-0123456789ab.jsonl'), `${line().slice(80)}\n`);
      expect(await store.count({})).toBe(4);
    });

    it('with a zero character in a text are found without it', async () => {
      const data = { text: 'Redis\0 and Valkey', agent: 'atlas', tags: ['a\0b'] };
      const { store } = await storeWith(`${line({}, [event({ data })])}\n`);
      expect((await askAll(store)).count).toBe(4);
      await tryWriting(store);
    });

    it('of a newer version can be read, and what they are about is not changed here', async () => {
      const { store, folder } = await storeWith(`${line({ v: 2 })}\n`);
      const key = { type: 'decisions', id: uuid('odd') } as const;
      expect((await store.get(key))?.text).toContain('odd line');
      const before = await readdir(folder, { recursive: true });
      const changed = store.update(key, { text: 'Changed by an older one', at: '2026-03-06' });
      await expect(changed).rejects.toMatchObject({
        code: 'unavailable',
        message: expect.stringContaining('newer version') as string,
        hint: expect.stringContaining('update this server') as string,
      });
      await expect(store.forget([key], '2026-03-06')).rejects.toThrow(/newer version/);
      expect(await readdir(folder, { recursive: true })).toEqual(before);
      await tryWriting(store);
    });

    it('with the marks of a conflict count on both sides, and the file is named', async () => {
      const sides = [
        '<<<<<<< HEAD',
        line(),
        '=======',
        line({ id: '01other' }, [event({ of: `memory/decisions/${uuid('two')}` })]),
        '>>>>>>> b',
      ];
      const { store } = await storeWith(`${sides.join('\n')}\n`);
      const { count, health } = await askAll(store);
      expect(count).toBe(5);
      expect(health.notes.join()).toMatch(/else-0123456789ab\.jsonl has conflict markers/);
    });

    it('are survived whatever is in them (N-05)', async () => {
      const value = fc.jsonValue({ maxDepth: 2 });
      const data = fc.dictionary(
        fc.constantFrom(
          ...'text tags agent createdAt updatedAt forgottenAt supersededAt supersededBy earlier'.split(' '),
        ),
        value,
      );
      const events = fc.array(
        fc.oneof(
          data.map((given) => event({ data: { text: 'x', agent: 'y', ...given } })),
          value,
          fc.record({ of: value, after: value, do: value, data: value }),
        ),
        { maxLength: 3 },
      );
      const odd = fc.oneof(
        value.map((each) => JSON.stringify(each)),
        fc
          .tuple(events, fc.dictionary(fc.constantFrom('v', 'id', 'at', 'by', 'machine'), value))
          .map(([given, more]) => line(more, given)),
      );
      await fc.assert(
        fc.asyncProperty(fc.array(odd, { minLength: 1, maxLength: 5 }), async (lines) => {
          const { store } = await storeWith(`${lines.join('\n')}\n`);
          const { listed, count, stats } = await askAll(store);
          for (const { text } of GOOD) expect(listed).toContain(text);
          expect(stats.live).toBe(count);
          await store.upsert([memory('new', 'Redis was written to after all of this.')]);
          expect(texts((await store.list({}, { limit: 50 })).entries)).toContain(
            'Redis was written to after all of this.',
          );
          await store.close();
        }),
        { numRuns: 25 },
      );
    });
  },
);
