import { describe, expect, it } from 'vitest';
import { ChainCheck, type ChainReport } from './chain.ts';
import { ORIGIN, sealed, type Link, type ReceiptBody } from './receipts.ts';

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

function chainOf(count: number): { lines: string[]; end: Link } {
  const lines: string[] = [];
  let end: Link = { seq: 0, hash: ORIGIN };
  for (let at = 0; at < count; at += 1) {
    const { receipt, line } = sealed({ ...BODY, duration_ms: at }, end);
    lines.push(line);
    end = receipt;
  }
  return { lines, end };
}

/** Reads bytes as they are read from the disk: only whole lines, as text. */
function check(bytes: Buffer | readonly string[], noted?: Link): ChainReport {
  const checker = new ChainCheck();
  const text = bytes instanceof Buffer ? bytes.toString('utf8') : `${bytes.join('\n')}\n`;
  const lines = text.split('\n').slice(0, -1);
  for (const line of lines) if (line !== '') checker.line(line);
  return checker.finish(noted);
}

describe('the chain of receipts', () => {
  it('is whole as it was written', () => {
    const { lines, end } = chainOf(5);
    expect(check(lines, end)).toMatchObject({ lines: 5, problems: [] });
    expect(check([], undefined)).toMatchObject({ lines: 0, problems: [] });
  });

  it('shows every single flipped bit, wherever it is', () => {
    const { lines, end } = chainOf(3);
    const bytes = Buffer.from(`${lines.join('\n')}\n`);
    const unseen: number[] = [];
    for (let at = 0; at < bytes.length; at += 1) {
      const bit = 1 << (at % 8);
      bytes[at] = (bytes[at] ?? 0) ^ bit;
      if (check(bytes, end).problems.length === 0) unseen.push(at);
      bytes[at] = (bytes[at] ?? 0) ^ bit;
    }
    expect(unseen).toEqual([]);
    expect(check(bytes, end).problems).toEqual([]);
  });

  it('says which receipt was changed, also when its own hash was made anew', () => {
    const { lines, end } = chainOf(4);
    const changed = lines.with(1, (lines[1] ?? '').replace('"PASS"', '"FAIL"'));
    expect(check(changed, end).problems).toEqual([
      { line: 2, kind: 'changed', message: 'Line 2 (cc-000002) was changed after it was written.' },
    ]);
    const first = sealed({ ...BODY, duration_ms: 0 }, { seq: 0, hash: ORIGIN }).receipt;
    const forged = lines.with(1, sealed({ ...BODY, status: 'FAIL' }, first).line);
    expect(check(forged, end).problems).toMatchObject([{ line: 3, kind: 'changed' }]);
    const last = lines.with(
      3,
      sealed({ ...BODY, status: 'FAIL' }, { seq: 3, hash: (JSON.parse(lines[2] ?? '') as Link).hash }).line,
    );
    expect(check(last, end).problems).toMatchObject([
      { kind: 'changed', message: expect.stringContaining('number 4') },
    ]);
  });

  it('takes another spelling of the same values for a change', () => {
    const { lines } = chainOf(1);
    expect(check([(lines[0] ?? '').replace('"seq":1', '"seq": 1')]).problems).toMatchObject([
      { kind: 'changed' },
    ]);
    expect(check([(lines[0] ?? '').replace('"PASS"', '"\\u0050ASS"')]).problems).toMatchObject([
      { kind: 'changed' },
    ]);
  });

  it('sees receipts that are missing at the beginning, in the middle and at the end', () => {
    const { lines, end } = chainOf(5);
    expect(check(lines.slice(2), end).problems).toMatchObject([
      { line: 1, kind: 'removed', message: expect.stringContaining('2 receipts were') },
    ]);
    expect(check(lines.toSpliced(2, 1), end).problems).toMatchObject([{ line: 3, kind: 'removed' }]);
    expect(check(lines.slice(0, 3), end).problems).toMatchObject([
      { kind: 'removed', message: expect.stringContaining('2 receipts are missing at the end') },
    ]);
    expect(check([], end).problems).toMatchObject([{ kind: 'removed' }]);
  });

  it('sees receipts that were moved or repeated', () => {
    const { lines, end } = chainOf(4);
    const [a = '', b = '', c = '', d = ''] = lines;
    expect(check([a, c, b, d], end).problems.length).toBeGreaterThan(0);
    expect(check([a, b, b, c, d], end).problems).toMatchObject([{ line: 3, kind: 'order' }]);
  });

  it('goes on after a line that cannot be read, and after a note that a crash left behind', () => {
    const { lines, end } = chainOf(3);
    expect(check(['{"half', ...lines], end).problems).toMatchObject([{ line: 1, kind: 'damaged' }]);
    const behind = JSON.parse(lines[1] ?? '') as Link;
    expect(check(lines, behind).problems).toEqual([]);
  });
});
