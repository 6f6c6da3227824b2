import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { qualifiedName, recordKey, type BmadRecord } from '../../src/model/record.ts';
import {
  createRanking,
  type RankingInput,
  scoreOf,
  SIGNALS,
  type Signals,
  signalsOf,
  type Weights,
} from '../../src/services/ranking/ranking.ts';

import { headerLine, UsageState } from '../../src/services/ranking/usage.ts';
import { recordOf } from '../support/records.ts';

const DAY = 86_400_000;
const weight = fc.double({ min: 0, max: 1_000, noNaN: true });
const weights: fc.Arbitrary<Weights> = fc.record({
  recency: weight,
  frequency: weight,
  manifest: weight,
  boost: weight,
});
const now = fc.integer({ min: 0, max: 4_000_000_000_000 });
const halfLife = fc.double({ min: 0.01 * DAY, max: 36_500 * DAY, noNaN: true });
const use = fc.record({
  uses: fc.integer({ min: 1, max: 1_000_000 }),
  last: fc.integer({ min: 0, max: 8e15 }),
});
const input = fc.record({
  use: fc.option(use, { nil: undefined }),
  priority: fc.integer({ min: 0, max: 100 }),
  boosted: fc.boolean(),
});
/** Numbers as a damaged file or a broken clock may give them. */
const wild = fc.oneof(fc.double(), fc.constantFrom(NaN, Infinity, -Infinity, -0, Number.MAX_VALUE));

const sumOf = (each: Weights): number => SIGNALS.reduce((sum, name) => sum + each[name], 0);

describe('a score', () => {
  it('lies between nothing and the sum of the weights, and is the same for the same history and clock', () => {
    fc.assert(
      fc.property(input, now, halfLife, weights, (each, at, half, weighed) => {
        const score = scoreOf(signalsOf(each, at, half), weighed);
        expect(score).toBeGreaterThanOrEqual(0);
        expect(score).toBeLessThanOrEqual(sumOf(weighed) * (1 + 1e-12));
        expect(scoreOf(signalsOf(structuredClone(each), at, half), weighed)).toBe(score);
      }),
    );
  });

  it('is a number whatever it is made of', () => {
    fc.assert(
      fc.property(wild, wild, wild, wild, wild, wild, (uses, last, priority, at, half, heavy) => {
        const signals = signalsOf({ use: { uses, last }, priority, boosted: true }, at, half);
        for (const name of SIGNALS) {
          expect(signals[name]).toBeGreaterThanOrEqual(0);
          expect(signals[name]).toBeLessThanOrEqual(1);
        }
        const all = { recency: heavy, frequency: heavy, manifest: heavy, boost: heavy };
        const score = scoreOf(signals, all);
        expect(Number.isNaN(score)).toBe(false);
        expect(score).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  it('rises with each signal', () => {
    const signal = fc.double({ min: 0, max: 1, noNaN: true });
    const signals: fc.Arbitrary<Signals> = fc.record({
      recency: signal,
      frequency: signal,
      manifest: signal,
      boost: signal,
    });
    fc.assert(
      fc.property(signals, fc.constantFrom(...SIGNALS), signal, weights, (each, name, other, weighed) => {
        const [low, high] = [Math.min(each[name], other), Math.max(each[name], other)];
        expect(scoreOf({ ...each, [name]: high }, weighed)).toBeGreaterThanOrEqual(
          scoreOf({ ...each, [name]: low }, weighed),
        );
      }),
    );
  });

  it('rises with more starts, later starts, a higher priority and a boost', () => {
    fc.assert(
      fc.property(use, use, now, halfLife, weights, (a, b, at, half, weighed) => {
        const score = (uses: number, last: number, priority = 50, boosted = false): number =>
          scoreOf(signalsOf({ use: { uses, last }, priority, boosted }, at, half), weighed);
        const [few, many] = [Math.min(a.uses, b.uses), Math.max(a.uses, b.uses)];
        const [early, late] = [Math.min(a.last, b.last), Math.max(a.last, b.last)];
        expect(score(many, early)).toBeGreaterThanOrEqual(score(few, early));
        expect(score(few, late)).toBeGreaterThanOrEqual(score(few, early));
        expect(score(few, early, 80)).toBeGreaterThanOrEqual(score(few, early, 20));
        expect(score(few, early, 50, true)).toBeGreaterThanOrEqual(score(few, early, 50, false));
      }),
    );
  });

  it('never puts a start of the future, or one before the clock went back, above one of now', () => {
    fc.assert(
      fc.property(
        input,
        now,
        fc.nat(4_000_000_000_000),
        halfLife,
        weights,
        (each, at, ahead, half, weighed) => {
          const started = { uses: each.use?.uses ?? 1, last: at };
          const ofNow = scoreOf(signalsOf({ ...each, use: started }, at, half), weighed);
          const ofFuture = scoreOf(
            signalsOf({ ...each, use: { ...started, last: at + ahead } }, at, half),
            weighed,
          );
          expect(ofFuture).toBeLessThanOrEqual(ofNow);
        },
      ),
    );
  });

  it('halves what recency gives in each half-life', () => {
    fc.assert(
      fc.property(now, halfLife, fc.integer({ min: 0, max: 20 }), (last, half, times) => {
        const at = last + half * times;
        const { recency } = signalsOf({ use: { uses: 1, last }, priority: 0, boosted: false }, at, half);
        expect(recency).toBeCloseTo(0.5 ** times, 6);
      }),
    );
  });
});

const name = fc.constantFrom('a/one', 'a/two', 'b/one', 'b/two', 'b/bmad-three', 'c/four');
const history = fc.array(fc.tuple(name, fc.nat(2_000_000_000_000)), { maxLength: 40 });
const RECORDS = ['a/one', 'a/two', 'b/one', 'b/two', 'b/bmad-three', 'c/four'].map((each) =>
  recordOf(`workflow ${each}`),
);

function rankingAfter(lines: readonly (readonly [string, number])[], more: Partial<RankingInput> = {}) {
  const state = new UsageState();
  state.take('log', headerLine());
  for (const [what, at] of lines) state.take('log', JSON.stringify({ what: `workflow ${what}`, at }));
  return createRanking({
    usage: { uses: state.uses },
    priority: () => 50,
    boost: [],
    weights: { recency: 35, frequency: 25, manifest: 15, boost: 25 },
    halfLifeMs: 14 * DAY,
    now: 2_000_000_000_000,
    ...more,
  });
}

const names = (records: readonly BmadRecord[]): string[] => records.map(qualifiedName);

describe('an order', () => {
  it('does not depend on the order of the history, nor on that of the candidates', () => {
    fc.assert(
      fc.property(
        history.chain((lines) =>
          fc.tuple(fc.constant(lines), fc.shuffledSubarray(lines, { minLength: lines.length })),
        ),
        fc.shuffledSubarray(RECORDS, { minLength: RECORDS.length }),
        ([lines, shuffled], candidates) => {
          expect(names(rankingAfter(shuffled).sorted(candidates))).toEqual(
            names(rankingAfter(lines).sorted(RECORDS)),
          );
        },
      ),
    );
  });

  it('loses nothing, and leaves what does not stand out in its place behind the rest', () => {
    fc.assert(
      fc.property(history, fc.shuffledSubarray(RECORDS), (lines, candidates) => {
        const ranking = rankingAfter(lines);
        const groups = ranking.lifted(
          candidates,
          (record) => record,
          () => 'all',
        );
        const lifted = groups.flatMap(({ out, rest }) => [...out, ...rest]);
        expect(names(lifted).toSorted()).toEqual(names(candidates).toSorted());
        const plain = (records: readonly BmadRecord[]) => records.filter((each) => !ranking.standsOut(each));
        expect(names(plain(lifted))).toEqual(names(plain(candidates)));
        expect(names(lifted.slice(lifted.length - plain(lifted).length))).toEqual(names(plain(lifted)));
      }),
    );
  });

  it('is the same after the log was made shorter', () => {
    fc.assert(
      fc.property(history, (lines) => {
        const [state, again] = [new UsageState(), new UsageState()];
        state.take('log', headerLine());
        for (const [what, at] of lines) state.take('log', JSON.stringify({ what, at }));
        for (const line of state.compact(2_000_000_000_000)) again.take('log', line);
        expect(again.uses).toEqual(state.uses);
      }),
    );
  });
});

describe('a boost', () => {
  it.each([
    ['b', ['b/one', 'b/two', 'b/bmad-three']],
    ['One', ['a/one', 'b/one']],
    ['b/three', ['b/bmad-three']],
    ['bmad-three', ['b/bmad-three']],
    ['nothing', []],
  ])('of %s lifts what has that name, or is in that module', (boost, expected) => {
    const ranking = rankingAfter([], { boost: [boost] });
    expect(names(RECORDS.filter((record) => ranking.standsOut(record)))).toEqual(expected);
    for (const record of RECORDS)
      expect(ranking.rank(record)).toBe(expected.includes(qualifiedName(record)) ? 32.5 : 7.5);
  });
});

it('calls things by kind, module and id', () => {
  expect(recordKey(recordOf('agent bmm/bmad-agent-pm'))).toBe('agent bmm/bmad-agent-pm');
});
