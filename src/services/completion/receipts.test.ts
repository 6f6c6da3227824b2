import { spawn } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { childProgram } from '../../../tests/support/child-program.ts';
import { receiptsOf } from '../../../tests/support/kit.ts';
import { isOnDatabase } from '../../../tests/support/team-state.ts';
import {
  addReceipt,
  type Chain,
  readChain,
  readLatest,
  type Receipt,
  type ReceiptBody,
  sealed,
} from './receipts.ts';
import { rounds } from '../../../tests/support/how-much.ts';

/** Runs a writer of receipts; with `killAfter` it is killed without warning after so many. Answers what it was told. */
async function writer(root: string, state: string, count: number, killAfter = Infinity): Promise<string[]> {
  const child = spawn(
    process.execPath,
    [await childProgram('tests/support/receipt-writer.ts'), root, state, String(count)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const told: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    told.push(line);
    if (told.length >= killAfter) child.kill('SIGKILL');
  });
  await new Promise((resolve) => void child.once('close', resolve));
  return told;
}

async function project(): Promise<{ root: string; state: string; chain(): Promise<Chain> }> {
  const root = await temporaryFolder(onTestFinished);
  const state = await temporaryFolder(onTestFinished);
  await mkdir(join(root, '_bmad-output'));
  return { root, state, chain: async () => readChain(await receiptsOf(root, state)) };
}

const COUNT = rounds(8, 25);
const BODY: ReceiptBody = {
  status: 'PASS',
  reason: 'All is well.',
  contract: { kind: 'builtin', version: 1 },
  directory: '.',
  stack: 'auto',
  stacks: ['go'],
  steps: [],
  timed_out: false,
  started: '2026-01-01T00:00:00.000Z',
  ended: '2026-01-01T00:00:01.000Z',
  duration_ms: 1,
  tree: { digest: 'c'.repeat(64), files: 1, listed: 'walk', left_out: 0 },
};

/** A chain as an earlier version has left it: one file, and a note of its end with the user. */
async function older({ root, state }: { root: string; state: string }, count: number): Promise<Receipt[]> {
  const { folder, anchor } = await receiptsOf(root, state);
  const made: Receipt[] = [];
  for (let at = 0; at < count; at += 1) made.push(sealed({ ...BODY, duration_ms: at }, made.slice(-1)));
  await mkdir(folder, { recursive: true });
  await mkdir(anchor, { recursive: true });
  await writeFile(join(folder, 'receipts.jsonl'), made.map((each) => `${JSON.stringify(each)}\n`).join(''));
  const { seq, hash } = made.at(-1) ?? { seq: 0, hash: '' };
  await writeFile(join(anchor, 'head.json'), JSON.stringify({ seq, hash, from: 3 }));
  return made;
}

describe('receipts of several processes', () => {
  it('are a chain each, which the next one joins, and all of them are from here', async () => {
    const { root, state, chain } = await project();
    const told = await Promise.all(Array.from({ length: 4 }, () => writer(root, state, COUNT)));
    const { count, intact, problems, fromHere, heads } = await chain();
    expect(problems).toEqual([]);
    expect(count).toBe(4 * COUNT);
    expect(intact.every(fromHere)).toBe(true);
    const seen = intact.map(({ seq, hash }) => `${seq} ${hash}`);
    expect(told.flat().sort()).toEqual([...seen].sort());
    const { receipt } = await addReceipt(await receiptsOf(root, state), BODY);
    expect(receipt.previous.split(' ').sort()).toEqual(heads.map(({ hash }) => hash).sort());
    expect(await chain()).toMatchObject({ problems: [], heads: [{ hash: receipt.hash }] });
    const files = (await readdir(join(root, '_bmad-output/.receipts'), { recursive: true })).filter((name) =>
      name.endsWith('.jsonl'),
    );
    expect(files).toHaveLength(isOnDatabase ? 0 : 5);
  });

  it('lose none that was acknowledged when a process is killed', async () => {
    const { root, state, chain } = await project();
    const told = await Promise.all([
      writer(root, state, COUNT),
      writer(root, state, 1_000, 3),
      writer(root, state, 1_000, 7),
      writer(root, state, COUNT),
    ]);
    const { intact, problems } = await chain();
    // Everything that was acknowledged is there; a line that was cut off is none.
    expect(problems).toEqual([]);
    const seen = new Set(intact.map(({ seq, hash }) => `${seq} ${hash}`));
    expect(told.flat().filter((line) => !seen.has(line))).toEqual([]);
    expect(told[0]).toHaveLength(COUNT);
  });
});

describe('receipts of an earlier version', () => {
  it('are read where they are, as the beginning, and their file is never written again', async () => {
    const { root, state, chain } = await project();
    const made = await older({ root, state }, 5);
    const file = join(root, '_bmad-output/.receipts/receipts.jsonl');
    const before = await readFile(file);
    const { receipt } = await addReceipt(await receiptsOf(root, state), BODY);
    expect(receipt).toMatchObject({ id: 'cc-000006', previous: made.at(-1)?.hash });
    expect(await readFile(file)).toEqual(before);
    const { count, problems, intact, fromHere } = await chain();
    expect({ count, problems }).toEqual({ count: 6, problems: [] });
    expect(intact.map(fromHere)).toEqual([false, false, true, true, true, true]);
  });

  it('are checked to the byte, and what an older server adds beside is followed too', async () => {
    const { root, state, chain } = await project();
    const made = await older({ root, state }, 3);
    const ours = (await addReceipt(await receiptsOf(root, state), BODY)).receipt;
    const theirs = sealed({ ...BODY, reason: 'Older.' }, made.slice(-1));
    const file = join(root, '_bmad-output/.receipts/receipts.jsonl');
    const lines = [...made, theirs].map((each) => JSON.stringify(each));
    await writeFile(file, `${lines.join('\n')}\n`);
    expect((await chain()).problems).toEqual([]);
    const { receipt } = await addReceipt(await receiptsOf(root, state), BODY);
    expect(receipt.previous.split(' ')).toEqual([ours.hash, theirs.hash].sort());
    await writeFile(file, `${lines.with(1, (lines[1] ?? '').replace('"seq":2', '"seq": 2')).join('\n')}\n`);
    expect((await chain()).problems).toMatchObject([{ kind: 'changed' }]);
    await writeFile(file, `${lines.toSpliced(1, 1).join('\n')}\n`);
    expect((await chain()).problems).toMatchObject([{ kind: 'removed' }]);
  });

  it('are not all read for the latest, of which a few hundred are enough', async () => {
    const { root, state } = await project();
    await older({ root, state }, 3_000);
    const place = await receiptsOf(root, state);
    for (let at = 0; at < 3; at += 1) await addReceipt(place, BODY);
    const { intact, count, problems, heads } = await readLatest(place, 3);
    expect({ seqs: intact.map(({ seq }) => seq), count, problems }).toEqual({
      seqs: [3_001, 3_002, 3_003],
      count: 3_003,
      problems: [],
    });
    expect(heads).toHaveLength(1);
    expect((await readLatest(place)).intact.length).toBeLessThan(1_000);
    expect(await readChain(place)).toMatchObject({ count: 3_003, problems: [] });
  });
});
