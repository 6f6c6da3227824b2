import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Happened, headsOf, onceEach } from '../../lines/line.ts';
import { cases } from '../../../tests/support/how-much.ts';
import { memoryOf } from './fold.ts';

const KEY = { type: 'decisions', id: '2f0c' } as const;
const OF = 'memory/decisions/2f0c';

interface Saying {
  text?: string;
  forgotten?: boolean;
  do?: string;
  at?: number;
  v?: number;
}

let count = 0;
function said(
  after: readonly string[],
  { text = 'A text', forgotten = false, at, ...more }: Saying = {},
): Happened {
  const moment = new Date(Date.UTC(2026, 0, 1) + (at ?? ++count) * 1_000).toISOString();
  return {
    of: OF,
    after,
    do: more.do ?? (forgotten ? 'forget' : 'remember'),
    data:
      more.do === 'erase'
        ? {}
        : {
            text,
            tags: [],
            agent: 'dev',
            createdAt: moment,
            updatedAt: moment,
            ...(forgotten ? { forgottenAt: moment } : {}),
          },
    id: `l${String(++count).padStart(6, '0')}`,
    at: moment,
    by: { kind: 'local', name: 'ada' },
    machine: 'k7q2',
    newer: (more.v ?? 1) > 1,
  };
}

const fold = (events: readonly Happened[]) => memoryOf(KEY, 'shop', onceEach(events));
const shown = (events: readonly Happened[]) => fold(events)?.entry;

/** Histories of three writers, each of whom knows some of what the others have said. */
const histories = fc
  .array(
    fc.record({
      who: fc.nat(2),
      meets: fc.option(fc.nat(2), { nil: undefined }),
      text: fc.constantFrom('one', 'two', 'three'),
      act: fc.constantFrom('remember', 'remember', 'forget', 'erase'),
      at: fc.nat(5),
    }),
    { minLength: 1, maxLength: 14 },
  )
  .map((steps) => {
    const known: Happened[][] = [[], [], []];
    const all: Happened[] = [];
    for (const { who, meets, text, act, at } of steps) {
      const own = known[who] as Happened[];
      if (meets !== undefined)
        own.push(...(known[meets] as Happened[]).filter((each) => !own.includes(each)));
      const after = own.length === 0 ? [] : headsOf(onceEach(own));
      const event = said(after, {
        text,
        at,
        forgotten: act === 'forget',
        ...(act === 'erase' ? { do: 'erase' } : {}),
      });
      own.push(event);
      all.push(event);
    }
    return all;
  });

describe('a memory that is made of lines', () => {
  it('is the same in whatever order, parts and copies its lines come', () => {
    fc.assert(
      fc.property(
        histories.chain((all) =>
          fc.tuple(fc.constant(all), fc.shuffledSubarray([...all, ...all], { minLength: all.length * 2 })),
        ),
        ([all, mixed]) => {
          expect(fold(mixed)).toEqual(fold(all));
        },
      ),
      { numRuns: cases(500) },
    );
  });

  it('stays forgotten against all that was said without knowing of it', () => {
    fc.assert(
      fc.property(histories, (all) => {
        const forget = said(headsOf(onceEach(all)), { forgotten: true });
        // One who has seen only the beginning goes on, with a clock of the future.
        const late = said([all[0]?.id ?? ''], { text: 'late', at: 1_000_000 });
        const isErased = fold([...all, forget, late]) === undefined;
        expect(isErased || shown([...all, forget, late])?.forgottenAt !== undefined).toBe(true);
        const back = said([forget.id, late.id], { text: 'back' });
        expect(shown([...all, forget, late, back])).toMatchObject({ text: 'back' });
        expect(shown([...all, forget, late, back])?.forgottenAt).toBeUndefined();
      }),
      { numRuns: cases(200) },
    );
  });

  it('shows nothing of what was removed for good, and takes what is said after it', () => {
    fc.assert(
      fc.property(histories, (all) => {
        const erase = said(headsOf(onceEach(all)), { do: 'erase' });
        const late = said([all[0]?.id ?? ''], { text: 'late', at: 1_000_000 });
        expect(fold([...all, erase, late])).toBeUndefined();
        const anew = said([erase.id], { text: 'anew' });
        expect(fold([...all, erase, late, anew])).toMatchObject({
          entry: { text: 'anew', revision: 1 },
          revisions: [],
        });
      }),
      { numRuns: cases(200) },
    );
  });

  it('has both texts of a fork until somebody has written after both', () => {
    const first = said([], { text: 'first' });
    const [mine, yours] = [said([first.id], { text: 'mine' }), said([first.id], { text: 'yours' })];
    expect(shown([first, mine, yours])).toMatchObject({ text: 'yours', others: ['mine'] });
    const after = said([yours.id], { text: 'yours, again' });
    expect(shown([first, mine, yours, after])).toMatchObject({ text: 'yours, again', others: ['mine'] });
    const both = said([mine.id, after.id], { text: 'ours' });
    expect(shown([first, mine, yours, after, both])?.text).toBe('ours');
    expect(shown([first, mine, yours, after, both])?.others).toBeUndefined();
  });

  it('follows what was seen and not the clock, which never runs backwards in it', () => {
    const future = said([], { text: 'from the future', at: 10_000_000 });
    const now = said([future.id], { text: 'now' });
    const entry = shown([future, now]);
    expect(entry?.text).toBe('now');
    expect(entry?.updatedAt).toBe(future.at);
  });

  it('is one for all readers where two texts have the same id', () => {
    const one = said([], { text: 'one' });
    const other = { ...one, data: { ...one.data, text: 'other' } };
    expect(fold([one, other])).toEqual(fold([other, one]));
  });

  it('leaves out what cannot be read', () => {
    const good = said([], { text: 'good' });
    for (const data of [
      {},
      { text: 7 },
      { text: 'x', tags: 'y', agent: 'dev' },
      { text: 'x'.repeat(300_000), agent: 'dev' },
    ])
      expect(shown([good, { ...said([good.id]), data }])?.text).toBe('good');
  });
});
