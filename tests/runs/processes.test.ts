import { spawn } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Runs } from '../../src/services/runs/runs.ts';
import { temporaryFolder } from '../support/app.ts';
import { childProgram } from '../support/child-program.ts';
import { writeFiles } from '../support/kit-project.ts';
import { branchFile, runsIn } from '../support/run-project.ts';
import { isDeep } from '../support/how-much.ts';

const WRITER = 'tests/runs/writer.ts';

/** The full runs are made by hand with larger numbers: 8 writers, 200 writes, 20 rounds, 20 kills. */
const WRITERS = Number(process.env['BMAD_TEST_RUN_WRITERS'] ?? 3);
const WRITES = Number(process.env['BMAD_TEST_RUN_WRITES'] ?? 15);
const ROUNDS = Number(process.env['BMAD_TEST_RUN_ROUNDS'] ?? 1);
const KILLS = Number(process.env['BMAD_TEST_RUN_KILLS'] ?? 2);
const LONG = 3_600_000;

interface WriterEnd {
  acknowledged: number[];
  code: number | null;
  stderr: string;
}

/** Runs a writer; with `killAfter` it is killed without warning after so many acknowledged writes. */
async function runWriter(
  folder: string,
  run: string,
  first: number,
  count: number,
  killAfter?: number,
): Promise<WriterEnd> {
  const child = spawn(process.execPath, [
    await childProgram(WRITER),
    folder,
    run,
    String(first),
    String(count),
  ]);
  const acknowledged: number[] = [];
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString('utf8')));
  createInterface({ input: child.stdout }).on('line', (line) => {
    acknowledged.push(Number(line));
    if (killAfter !== undefined && acknowledged.length >= killAfter) child.kill('SIGKILL');
  });
  const code = await new Promise<number | null>((resolve) => void child.once('close', resolve));
  return { acknowledged, code, stderr };
}

async function project(): Promise<{ folder: string; runs: Runs; open: () => Promise<string> }> {
  const folder = await temporaryFolder(onTestFinished);
  await writeFiles(folder, { '_bmad-output/.runs/main/branch.json': branchFile('main') });
  const runs = await runsIn(folder);
  return { folder, runs, open: async () => (await runs.open({ workflow: 'bmm/prd', workflowPath: 'x' })).id };
}

async function expectWhole(
  folder: string,
  runs: Runs,
  id: string,
  acknowledged: readonly number[],
): Promise<void> {
  const run = await runs.one(id);
  const steps = new Set(run.state?.stepsCompleted);
  expect(acknowledged.filter((step) => !steps.has(step))).toEqual([]);
  const entries = await runs.journal(run);
  expect(await readdir(join(folder, run.place.path))).toEqual(['state.json']);
  expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index + 1));
  const times = entries.map(({ at }) => at);
  expect(times).toEqual([...times].sort());
}

describe('many processes', () => {
  it(
    'write one run and lose nothing; ids and times are in order',
    async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const { folder, runs, open } = await project();
        const id = await open();
        const outcomes = await Promise.all(
          Array.from({ length: WRITERS }, (_, index) => runWriter(folder, id, index * 1_000 + 1, WRITES)),
        );
        expect(outcomes.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
          outcomes.map(() => ({ code: 0, stderr: '' })),
        );
        const all = outcomes.flatMap(({ acknowledged }) => acknowledged);
        expect(all).toHaveLength(WRITERS * WRITES);
        await expectWhole(folder, runs, id, all);
        expect((await runs.one(id)).journal).toBe('level');
      }
    },
    LONG,
  );

  it.runIf(isDeep)(
    'write a run each and lose nothing',
    async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const { folder, runs, open } = await project();
        const ids: string[] = [];
        for (let index = 0; index < WRITERS; index++) ids.push(await open());
        expect(new Set(ids).size).toBe(WRITERS);
        const outcomes = await Promise.all(ids.map((id) => runWriter(folder, id, 1, WRITES)));
        for (const [index, { acknowledged, code, stderr }] of outcomes.entries()) {
          expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
          await expectWhole(folder, runs, ids[index] ?? '', acknowledged);
        }
      }
    },
    LONG,
  );

  it(
    'that are killed while they write lose nothing they were told is recorded',
    async () => {
      const { folder, runs, open } = await project();
      const id = await open();
      const acknowledged: number[] = [];
      for (let kill = 0; kill < KILLS; kill++) {
        const after = 1 + ((kill * 7) % 12);
        const outcomes = await Promise.all([
          runWriter(folder, id, kill * 1_000 + 1, 100, after),
          runWriter(folder, id, kill * 1_000 + 501, 3),
        ]);
        expect(outcomes[1]).toMatchObject({ code: 0, stderr: '' });
        acknowledged.push(...outcomes.flatMap((outcome) => outcome.acknowledged));
      }
      await expectWhole(folder, runs, id, acknowledged);
      const { run } = await runs.checkpoint(id, undefined, { step: 99_999 });
      expect(run.journal).toBe('level');
    },
    LONG,
  );
});
