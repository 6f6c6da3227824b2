import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lineJson, newLineId, readLine } from '../../lines/line.ts';
import { type Chain, type Link, type Receipt, type ReceiptBody, ReceiptChain, sealed } from './receipts.ts';

const BODY: ReceiptBody = {
  status: 'PASS',
  reason: 'Its verdict is PASS, its exit code 0.',
  contract: { kind: 'script', path: '_bmad/_config/custom/cc-verify.sh', sha256: 'a'.repeat(64) },
  directory: '.',
  stack: 'auto',
  stacks: ['go'],
  steps: [{ stack: 'go', command: 'go test ./... é "quoted"', ok: true }],
  exit_code: 0,
  timed_out: false,
  started: '2026-01-01T00:00:00.000Z',
  ended: '2026-01-01T00:00:01.500Z',
  duration_ms: 1_500,
  git: { commit: 'b'.repeat(40), branch: 'main', dirty: false },
  tree: { digest: 'c'.repeat(64), files: 3, listed: 'git', left_out: 0 },
};

function chainOf(count: number, after: readonly Link[] = [], reason = BODY.reason): Receipt[] {
  const made: Receipt[] = [];
  let heads = after;
  for (let at = 0; at < count; at += 1) {
    const receipt = sealed({ ...BODY, reason, duration_ms: at }, heads);
    made.push(receipt);
    heads = [receipt];
  }
  return made;
}

/** Each as it comes from a file. */
const asRead = (receipt: object): unknown => JSON.parse(JSON.stringify(receipt)) as unknown;

function check(receipts: readonly object[], noted: readonly Link[] = [], file = 'a.jsonl'): Chain {
  const chain = new ReceiptChain();
  for (const receipt of receipts) chain.add(asRead(receipt), file);
  return chain.finish({ links: noted });
}

describe('the chain of receipts', () => {
  it('is whole as it was written', () => {
    const receipts = chainOf(5);
    const { count, problems, intact, heads, fromHere } = check(receipts, receipts.slice(2));
    expect({ count, problems }).toEqual({ count: 5, problems: [] });
    expect(intact.map(fromHere)).toEqual([false, false, true, true, true]);
    expect(heads).toEqual([{ seq: 5, hash: receipts[4]?.hash }]);
    expect(check([])).toMatchObject({ count: 0, problems: [], heads: [] });
  });

  it('shows every single flipped bit that changes what a receipt says, wherever it is', () => {
    const receipts = chainOf(3);
    const by = { kind: 'local', name: 'ada' } as const;
    const lines = receipts.map((receipt) => {
      const events = [{ of: 'receipt/1', after: [], do: 'verdict', data: { ...receipt } }];
      return lineJson({ v: 1, id: newLineId(), at: BODY.started, machine: 'k7q2ab', by, events });
    });
    const bytes = Buffer.from(`${lines.join('\n')}\n`);
    const read = (): Chain => {
      const chain = new ReceiptChain();
      for (const text of bytes.toString('utf8').split('\n')) {
        if (text === '') continue;
        const line = readLine(text);
        if (line === undefined) chain.damaged('It cannot be read.');
        for (const event of line?.events ?? [])
          if (event.of.startsWith('receipt/') && event.do === 'verdict')
            chain.add(event.data, 'a.jsonl', { newer: line?.v !== 1 });
      }
      return chain.finish({ links: receipts });
    };
    const unseen: number[] = [];
    for (let at = 0; at < bytes.length; at += 1) {
      const bit = 1 << (at % 8);
      bytes[at] = (bytes[at] ?? 0) ^ bit;
      const { problems, intact } = read();
      if (problems.length === 0 && JSON.stringify(intact) !== JSON.stringify(receipts)) unseen.push(at);
      bytes[at] = (bytes[at] ?? 0) ^ bit;
    }
    expect(unseen).toEqual([]);
    expect(read().problems).toEqual([]);
  });

  it('says which receipt was changed, also when its own hash was made anew', () => {
    const receipts = chainOf(4);
    const [first, second, third, last] = receipts as [Receipt, Receipt, Receipt, Receipt];
    expect(check(receipts.with(1, { ...second, status: 'FAIL' }), receipts).problems).toEqual([
      { kind: 'changed', message: 'a.jsonl: cc-000002 was changed after it was written.' },
    ]);
    const forged = sealed({ ...BODY, status: 'FAIL' }, [first]);
    expect(check(receipts.with(1, forged), receipts).problems).toMatchObject([
      { kind: 'changed', message: expect.stringContaining('cc-000003 does not follow') },
    ]);
    const end = receipts.with(3, sealed({ ...BODY, status: 'FAIL' }, [third]));
    expect(check(end, receipts).problems).toMatchObject([
      { kind: 'changed', message: expect.stringContaining(`number ${last.seq}`) },
    ]);
    const numbered = { ...BODY, status: 'FAIL' as const };
    const jumped = sealed(numbered, [{ seq: 9, hash: last.hash }]);
    expect(check([...receipts, jumped]).problems).toMatchObject([{ kind: 'order' }]);
  });

  it('sees receipts that are missing at the beginning, in the middle and at the end', () => {
    const receipts = chainOf(5);
    expect(check(receipts.slice(2)).problems).toMatchObject([
      { kind: 'removed', message: expect.stringContaining('cc-000003 follows number 2') },
    ]);
    expect(check(receipts.toSpliced(2, 1), receipts).problems).toMatchObject([
      { kind: 'removed', message: expect.stringContaining('cc-000004') },
    ]);
    expect(check(receipts.slice(0, 3), receipts).problems).toMatchObject([
      { kind: 'removed', message: expect.stringContaining('2 receipts are missing') },
    ]);
    const none = check([], receipts.slice(4));
    expect(none.problems).toMatchObject([{ kind: 'removed' }]);
    // Its number is never given again.
    expect(sealed(BODY, none.heads).id).toBe('cc-000006');
  });

  it('sees receipts that were moved or repeated in their file', () => {
    const [a, b, c, d] = chainOf(4) as [Receipt, Receipt, Receipt, Receipt];
    expect(check([a, c, b, d]).problems).toMatchObject([{ kind: 'order' }]);
    expect(check([a, b, b, c, d]).problems).toMatchObject([{ kind: 'order' }]);
  });

  it('joins the chains of several processes, and is the same in whatever order their files come', () => {
    const begun = chainOf(2);
    const one = chainOf(3, begun.slice(-1), 'one');
    const other = chainOf(2, begun.slice(-1), 'other');
    const joined = sealed(BODY, check([...begun, ...one, ...other].sort((x, y) => x.seq - y.seq)).heads);
    expect(joined).toMatchObject({
      seq: 6,
      previous: [one[2]?.hash ?? '', other[1]?.hash ?? ''].toSorted().join(' '),
    });
    const files = [begun, one, other, [joined], one, other.slice(0, 1)];
    const noted = [...begun, ...one, ...other, joined];
    const expected = [...begun, ...one, ...other, joined].map(({ hash }) => hash).sort();
    fc.assert(
      fc.property(fc.shuffledSubarray([0, 1, 2, 3, 4, 5], { minLength: 6 }), (order) => {
        const chain = new ReceiptChain();
        for (const at of order)
          for (const receipt of files[at] ?? []) chain.add(asRead(receipt), `${at}.jsonl`);
        const { problems, intact, count, heads } = chain.finish({ links: noted });
        expect({ problems, count, heads }).toEqual({
          problems: [],
          count: 8,
          heads: [{ seq: 6, hash: joined.hash }],
        });
        expect(intact.map(({ hash }) => hash).sort()).toEqual(expected);
        expect(intact.map(({ seq }) => seq)).toEqual([1, 2, 3, 3, 4, 4, 5, 6]);
      }),
    );
  });

  it('takes what an earlier version noted for the part of its chain that was written here', () => {
    const receipts = chainOf(4);
    const [, second, third, last] = receipts as [Receipt, Receipt, Receipt, Receipt];
    const foreign = chainOf(4, [], 'elsewhere');
    const here = (old: object): boolean[] => {
      const chain = new ReceiptChain();
      for (const receipt of receipts) chain.add(asRead(receipt), 'receipts.jsonl');
      for (const receipt of foreign) chain.add(asRead(receipt), 'foreign.jsonl');
      const { intact, fromHere, problems } = chain.finish({ links: [], old: old as never });
      expect(problems).toEqual([]);
      expect(foreign.some(fromHere)).toBe(false);
      return intact.filter(({ reason }) => reason === BODY.reason).map(fromHere);
    };
    expect(here({ seq: 3, hash: third.hash, from: second.seq })).toEqual([false, true, true, false]);
    // A crash came after the file was written, and before that was noted.
    const next = { seq: last.seq, hash: last.hash };
    expect(here({ seq: 3, hash: third.hash, from: 1, next })).toEqual([true, true, true, true]);
  });
});
