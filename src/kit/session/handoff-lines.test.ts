import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Happened, onceEach } from '../../lines/line.ts';
import { HANDOFFS } from './handoffs.ts';

const event = (id: string, verb: string, after: string[], data: Record<string, unknown>): Happened => ({
  of: 'handoff/H-1',
  id,
  after,
  do: verb,
  data,
  at: `2026-03-01T10:00:0${id}.000Z`,
  by: { kind: 'local', name: 'ada' },
  machine: 'k7q2ab',
  newer: false,
});
const SAID = { from: 'dev', to: 'qa', text: 'Check the cart', date: '2026-03-01 10:00', inbox: true };
const EVENTS = [
  event('1', 'hand', [], SAID),
  event('2', 'done', ['1'], {}),
  event('3', 'done', ['1'], {}),
  event('4', 'something newer', ['2', '3'], { text: 'ignored' }),
];

describe('a hand-off as lines', () => {
  it('is the same in whatever order they come, and however often', () => {
    const expected = { id: 'H-1', ...SAID, done: true, line: 0 };
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...EVENTS), { maxLength: 8 }),
        fc.shuffledSubarray(EVENTS, { minLength: 4 }),
        (more, all) => {
          expect(HANDOFFS.fold('H-1', onceEach([...more, ...all]))).toEqual(expected);
        },
      ),
    );
  });

  it('is open until someone has done it, and nothing without the line that says what it is', () => {
    expect(HANDOFFS.fold('H-1', EVENTS.slice(0, 1))).toMatchObject({ text: 'Check the cart', done: false });
    expect(HANDOFFS.fold('H-1', EVENTS.slice(1))).toBeUndefined();
  });
});
