import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { cpuOf } from '../../../tests/support/work.ts';
import { endOf, keepLog, OutputKeeper } from './output.ts';

/** A keeper, and the lines that it told. */
function keeperOf(room = { head: 100, tail: 100 }): { keeper: OutputKeeper; told: string[] } {
  const told: string[] = [];
  return { keeper: new OutputKeeper((line) => told.push(line), room), told };
}

/** Hands over so many bytes of lines of two bytes, in pieces as pipes give them; answers how many lines were told. */
function shortLines(bytes: number, tail: number): { lines: number; keeper: OutputKeeper; cpu: number } {
  const chunk = Buffer.from('y\n'.repeat(32_768));
  let lines = 0;
  const keeper = new OutputKeeper(() => (lines += 1), { head: 1_000, tail });
  const cpu = cpuOf(() => {
    for (let left = bytes; left > 0; left -= chunk.length) keeper.add(chunk.subarray(0, left), 'stdout');
  });
  return { lines, keeper, cpu };
}

describe('the output that is kept', () => {
  it.each([
    ['in one piece', (text: string) => [text]],
    ['byte by byte', (text: string) => text.split('')],
  ])('is split at every kind of line end, %s', (_how, piecesOf) => {
    const { keeper, told } = keeperOf();
    for (const piece of piecesOf('a\n\nb\r10%\r20%\nrest')) keeper.add(Buffer.from(piece), 'stdout');
    keeper.flush();
    expect(told).toEqual(['a', '', 'b', '10%', '20%', 'rest']);
  });

  it('has no line for the two halves of a Windows line end', () => {
    const { keeper, told } = keeperOf();
    keeper.add(Buffer.from('a\r\nb\r\n'), 'stdout');
    expect(told).toEqual(['a', 'b']);
  });

  it('joins a line that comes in pieces, each stream for itself', () => {
    const { keeper, told } = keeperOf();
    keeper.add(Buffer.from('one '), 'stdout');
    keeper.add(Buffer.from('other '), 'stderr');
    keeper.add(Buffer.from('line\n'), 'stdout');
    keeper.add(Buffer.from('stream\n'), 'stderr');
    expect(told).toEqual(['one line', 'other stream']);
  });

  it('cuts a line without an end into pieces, the last of which may go on', () => {
    const { keeper, told } = keeperOf();
    for (let part = 0; part < 5; part += 1) keeper.add(Buffer.from('x'.repeat(4_000)), 'stdout');
    keeper.add(Buffer.from('!\n'), 'stdout');
    expect(told.map((line) => line.length)).toEqual([8_000, 8_000, 4_001]);
  });

  it('is the beginning and the end, and says how much is missing', () => {
    const { keeper } = keeperOf({ head: 6, tail: 9 });
    keeper.add(Buffer.from(Array.from({ length: 5_000 }, (_, index) => `${index}\n`).join('')), 'stdout');
    expect(keeper.kept).toMatchObject({
      text: '0\n1\n2\n[… 4996 lines left out …]\n4999',
      lines: 5_000,
    });
  });

  it('takes no more work for each line when more of the end is kept', () => {
    shortLines(500_000, 2_000);
    const little = shortLines(1_000_000, 2_000);
    const much = shortLines(1_000_000, 400_000);
    expect(much.cpu / little.cpu).toBeLessThan(10);
    expect(much.keeper.kept.text.length).toBeGreaterThan(390_000);
  });

  it('takes about four times the work for four times the output', () => {
    shortLines(500_000, 100_000);
    const once = shortLines(1_000_000, 100_000);
    const fourTimes = shortLines(4_000_000, 100_000);
    expect([once.lines, fourTimes.lines]).toEqual([500_000, 2_000_000]);
    expect(fourTimes.keeper.kept).toMatchObject({ lines: 2_000_000, bytes: 4_000_000 });
    expect(fourTimes.cpu / once.cpu).toBeLessThan(12);
  });
});

describe('the end of an output', () => {
  it('is made of whole lines', () => {
    expect(endOf('one\ntwo\nthree', 100)).toBe('one\ntwo\nthree');
    expect(endOf('one\ntwo\nthree', 10)).toBe('two\nthree');
    expect(endOf('one\ntwo\nthree', 7)).toBe('three');
  });
});

describe('the file of an output', () => {
  it('is there for the latest ten runs', async () => {
    const folder = await temporaryFolder(onTestFinished);
    for (let run = 1; run <= 12; run += 1)
      await keepLog({ folder }, `cc-${String(run).padStart(6, '0')}`, `run ${run}`);
    const kept = await readdir(join(folder, 'logs'));
    expect(kept.sort()).toEqual(
      Array.from({ length: 10 }, (_, index) => `cc-${String(index + 3).padStart(6, '0')}.log`),
    );
  });
});
