import { describe, expect, it } from 'vitest';
import type { Happened } from '../../lines/line.ts';
import { entityOf, nameOf, taskOf } from './fold.ts';

const ID = 'task-20261118-090000-a1b2c3';
const UNTIL = '2026-11-18T12:00:00.000Z';

let moment = 0;
/** A line about the task, a second after the one before. */
function line(id: string, verb: string, data: object, after: string[] = []): Happened {
  moment += 1;
  const at = new Date(Date.UTC(2026, 10, 18, 9, 0, moment)).toISOString();
  const by = { kind: 'local', name: 'ada' } as const;
  return { of: entityOf(ID), id, at, by, machine: 'm', newer: false, after, do: verb, data: { ...data } };
}

const task = {
  agent: 'dev',
  task: 'Do it',
  output_key: 'out',
  context_files: [],
  depends_on: [],
  status: 'queued',
  created_at: '2026-11-18T09:00:00.000Z',
  updated_at: '2026-11-18T09:00:00.000Z',
  created_by: 'bmad',
  attempts: 0,
};
const result = (by: string) => ({ file: `${by}.md`, bytes: 1, digest: by, by });
const claim = (by: string) => ({ worker: by, claim: `claim of ${by}`, until: UNTIL });
const done = (by: string) => ({ claim: `claim of ${by}`, result: result(by), status: 'completed' });

function shuffled<T>(items: readonly T[], seed: number): T[] {
  const left = [...items];
  let state = seed;
  return Array.from(items, () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return left.splice(Math.floor((state / 2 ** 31) * left.length), 1)[0] as T;
  });
}

describe('a task from its lines', () => {
  it('that two have claimed without knowing of each other has the result that came first, and shows both', () => {
    const lines = [
      line('a', 'create', task),
      line('b', 'claim', claim('ada'), ['a']),
      line('c', 'claim', claim('bob'), ['a']),
      line('d', 'complete', done('bob'), ['c']),
      line('e', 'complete', done('ada'), ['b']),
    ];
    const folded = taskOf(ID, lines);
    expect(folded).toMatchObject({ status: 'completed', attempts: 1, result: { by: 'bob' } });
    expect(folded?.others).toMatchObject([
      { did: 'claim', by: 'bob' },
      { did: 'complete', by: 'ada', file: 'ada.md' },
    ]);
    expect(folded).not.toHaveProperty('lease');
    for (let seed = 1; seed < 60; seed += 1) expect(taskOf(ID, shuffled(lines, seed))).toEqual(folded);
  });

  it('is claimed again by one who knew of the claim before, and by nobody else', () => {
    const lines = [line('a', 'create', task), line('b', 'claim', claim('ada'), ['a'])];
    const blind = taskOf(ID, [...lines, line('c', 'claim', claim('bob'), ['a'])]);
    expect(blind).toMatchObject({ attempts: 1, lease: { worker: 'ada' } });
    const knowing = taskOf(ID, [...lines, line('c', 'claim', claim('bob'), ['b'])]);
    expect(knowing).toMatchObject({ attempts: 2, lease: { worker: 'bob' } });
    const late = taskOf(ID, [
      ...lines,
      line('c', 'claim', claim('bob'), ['b']),
      line('d', 'complete', done('ada'), ['b']),
    ]);
    expect(late).toMatchObject({ status: 'completed', result: { by: 'ada' } });
  });

  it.each<[string, Happened[]]>([
    ['a result without a claim', [line('x', 'complete', done('eve'), ['b'])]],
    ['a claim that is renewed by another', [line('x', 'renew', { claim: 'eve', until: '2999' }, ['b'])]],
    [
      'a failure that another tells of',
      [line('x', 'fail', { claim: 'eve', error: 'e', status: 'failed' }, ['b'])],
    ],
    ['what cannot be read', [line('x', 'claim', { worker: 7 }, ['b']), line('y', 'cancel', {}, ['b'])]],
    ['an unknown verb', [line('x', 'praise', {}, ['b'])]],
    ['another beginning', [line('x', 'create', { ...task, task: 'Something else' }, ['b'])]],
  ])('is not changed by %s', (_what, more) => {
    const lines = [line('a', 'create', task), line('b', 'claim', claim('ada'), ['a'])];
    const { others: _others, ...after } = taskOf(ID, [...lines, ...more]) ?? {};
    expect(after).toEqual(taskOf(ID, lines));
  });

  it('that was cancelled stays so for a decision and a result that knew nothing of it', () => {
    const approval = { reason: 'r', by: 'Ada', agreed: true };
    const folded = taskOf(ID, [
      line('a', 'create', { ...task, status: 'needs_approval' }),
      line('b', 'cancel', { error: 'no longer wanted' }, ['a']),
      line('c', 'decide', { status: 'queued', approval }, ['a']),
      line('d', 'claim', claim('bob'), ['c']),
      line('e', 'complete', done('bob'), ['d']),
    ]);
    expect(folded).toMatchObject({ status: 'cancelled', error: 'no longer wanted' });
  });

  it('is gone once it was removed, whatever comes after', () => {
    const lines = [
      line('a', 'create', task),
      line('b', 'remove', {}, ['a']),
      line('c', 'moved', task, ['a']),
    ];
    expect(taskOf(ID, lines)).toBeUndefined();
  });

  it('has a name that fits, whatever its run is called', () => {
    expect(nameOf({ outputKey: 'out' })).toBe('name/-/out');
    expect(nameOf({ outputKey: 'out', runId: 'a/b' })).toBe('name/a%2Fb/out');
    expect(nameOf({ outputKey: 'k'.repeat(80), runId: 'é'.repeat(200) }).length).toBeLessThan(200);
    expect(taskOf('../../etc', [])).toBeUndefined();
  });
});
