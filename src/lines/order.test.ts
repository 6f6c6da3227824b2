import { describe, expect, it } from 'vitest';
import { grouped } from '../base/values.ts';
import { happenedIn, headsOf, inOrder, type Line, lineJson, newLineId, onceEach, readLine } from './line.ts';

const byEntity = (lines: readonly Line[]) =>
  new Map(
    [...grouped(lines.flatMap(happenedIn), ({ of }) => of)].map(([of, events]) => [of, onceEach(events)]),
  );

const by = { kind: 'local', name: 'ada' } as const;
let clock = 0;

function line(after: readonly string[], data: Record<string, unknown> = {}, at = (clock += 1)): Line {
  return {
    v: 1,
    id: newLineId(at),
    at: new Date(at).toISOString(),
    machine: 'k7q2',
    by,
    events: [{ of: 'memory/decisions/1', after, do: 'remember', data }],
  };
}

/** A generator of the same numbers each time, so that a failure can be seen again. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * below);
  };
}

function shuffled<T>(items: readonly T[], pick: (below: number) => number): T[] {
  const left = [...items];
  return items.map(() => left.splice(pick(left.length), 1)[0] as T);
}

const orderOf = (lines: readonly Line[]): string[] =>
  inOrder(byEntity(lines).get('memory/decisions/1') ?? []).map(({ id }) => id);

describe('the order of lines', () => {
  it('follows what each has seen, whatever clocks say', () => {
    const first = line([], {}, 5_000);
    const second = line([first.id], {}, 1_000);
    const third = line([second.id], {}, 3_000);
    expect(orderOf([third, first, second])).toEqual([first.id, second.id, third.id]);
  });

  it('is the same in whatever order, parts and copies lines come', () => {
    for (let seed = 1; seed <= 200; seed += 1) {
      const pick = numbers(seed);
      const lines: Line[] = [];
      for (let count = 0; count < 30; count += 1) {
        const seen = lines.filter(() => pick(4) === 0).map(({ id }) => id);
        lines.push(line(seen, { count }, 1_000 + pick(50)));
      }
      const expected = orderOf(lines);
      const twice = [...lines, ...lines.filter(() => pick(2) === 0)];
      expect(orderOf(shuffled(twice, pick))).toEqual(expected);
      const at = new Map(expected.map((id, index) => [id, index]));
      for (const { id, events } of lines)
        for (const other of events[0]?.after ?? []) expect(at.get(other)).toBeLessThan(at.get(id) ?? 0);
    }
  });

  it('bears lines that name themselves, each other and what never came', () => {
    const [one, two] = [line([], {}, 10), line([], {}, 20)];
    const named = (each: Line, after: string[]): Line => ({
      ...each,
      events: each.events.map((event) => ({ ...event, after })),
    });
    const circle = [named(one, [two.id, one.id, 'gone']), named(two, [one.id])];
    expect(orderOf(circle)).toEqual([one.id, two.id]);
    expect(orderOf(circle.toReversed())).toEqual([one.id, two.id]);
    expect(headsOf(byEntity(circle).get('memory/decisions/1') ?? [])).toHaveLength(1);
  });

  it('has a head for each that wrote without seeing the other', () => {
    const root = line([]);
    const [left, right] = [line([root.id]), line([root.id])];
    const heads = (...lines: Line[]) => headsOf(byEntity(lines).get('memory/decisions/1') ?? []);
    expect(heads(root, left, right)).toEqual([left.id, right.id].sort());
    const closing = line([left.id, right.id]);
    expect(heads(root, left, closing, right)).toEqual([closing.id]);
  });

  it('lets a forgotten text win against its copies, in whatever order they come', () => {
    const whole = line([], { text: 'secret' });
    const stub: Line = {
      ...whole,
      events: whole.events.map((event) => ({ ...event, data: {}, erased: true as const })),
    };
    const textOf = (lines: Line[]) => byEntity(lines).get('memory/decisions/1')?.[0]?.data;
    expect([textOf([whole, stub]), textOf([stub, whole])]).toEqual([{}, {}]);
    const other = { ...whole, events: whole.events.map((event) => ({ ...event, data: { text: 'a' } })) };
    expect(textOf([whole, other])).toEqual(textOf([other, whole]));
  });
});

describe('a line', () => {
  it('is read as it was written, and what is no line is nothing', () => {
    const one = line(['x'], { text: 'é\n"\u0000' });
    expect(readLine(lineJson(one))).toEqual(one);
    for (const text of [
      '',
      '{',
      '[]',
      '{"v":1}',
      'null',
      '{"v":1,"id":"a","at":"never","events":[]}',
      '{"v":0}',
    ])
      expect(readLine(text)).toBeUndefined();
    expect(readLine(`{"v":1,"id":"a","at":"2026-01-01","events":[{"of":1}]}`)).toBeUndefined();
    expect(readLine(lineJson(line([], { text: 'x'.repeat(1_000_000) })))).toBeUndefined();
  });

  it('keeps what a newer program wrote, and says that it is newer', () => {
    const newer = readLine(lineJson({ ...line([]), v: 2 }));
    expect(byEntity(newer === undefined ? [] : [newer]).get('memory/decisions/1')?.[0]?.newer).toBe(true);
  });

  it('has an id of its own that sorts by time', () => {
    const ids = Array.from({ length: 5_000 }, () => newLineId());
    expect(new Set(ids).size).toBe(5_000);
    expect(newLineId(1) < newLineId(2)).toBe(true);
    expect(newLineId(Date.parse('2026-01-01')) < newLineId(Date.parse('2126-01-01'))).toBe(true);
  });
});
