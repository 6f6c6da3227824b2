import { spawn } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { childProgram } from '../../../tests/support/child-program.ts';
import { kitIn } from '../../../tests/support/kit.ts';
import type { ChainReport } from './chain.ts';
import { receiptPlace } from './receipts.ts';
import { readChain } from './verify.ts';
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

async function project(): Promise<{ root: string; state: string; chain(): Promise<ChainReport> }> {
  const root = await temporaryFolder(onTestFinished);
  const state = await temporaryFolder(onTestFinished);
  await mkdir(join(root, '_bmad-output'));
  return { root, state, chain: async () => readChain(await receiptPlace(await kitIn(root, state))) };
}

const COUNT = rounds(8, 25);

describe('receipts of several processes', () => {
  it('are one chain', async () => {
    const { root, state, chain } = await project();
    const told = await Promise.all(Array.from({ length: 4 }, () => writer(root, state, COUNT)));
    const { lines, intact, problems } = await chain();
    expect(problems).toEqual([]);
    expect(lines).toBe(4 * COUNT);
    const seen = intact.map(({ seq, hash }) => `${seq} ${hash}`);
    expect(told.flat().sort()).toEqual([...seen].sort());
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
    // A line that was cut off would be told as damaged; everything that was acknowledged is there and in order.
    expect(problems.filter(({ kind }) => kind !== 'damaged')).toEqual([]);
    const seen = new Set(intact.map(({ seq, hash }) => `${seq} ${hash}`));
    expect(told.flat().filter((line) => !seen.has(line))).toEqual([]);
    expect(told[0]).toHaveLength(COUNT);
  });
});
