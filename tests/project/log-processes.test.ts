import { spawn } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { museumIn, museumLog } from '../../src/kit/museum/museum.ts';
import { temporaryFolder } from '../support/app.ts';
import { childProgram } from '../support/child-program.ts';
import { KIT_FILES, writeFiles } from '../support/kit-project.ts';
import { GRIMOIRE_FILES } from '../support/kit-trees.ts';

/** The full runs are made by hand: 8 processes with 200 entries each. */
const WRITERS = Number(process.env['BMAD_TEST_LOG_WRITERS'] ?? 3);
const WRITES = Number(process.env['BMAD_TEST_LOG_WRITES'] ?? 12);
const KILLS = Number(process.env['BMAD_TEST_LOG_KILLS'] ?? 1);
const LONG = 900_000;

const WRITER = 'tests/project/log-writer.ts';

/** Runs a writer; with `killAfter` it is killed without warning after so many entries. */
async function runWriter(
  folder: string,
  name: string,
  count: number,
  killAfter?: number,
): Promise<{ kept: string[]; code: number | null; stderr: string }> {
  const child = spawn(process.execPath, [await childProgram(WRITER), folder, name, String(count)]);
  const kept: string[] = [];
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString('utf8')));
  createInterface({ input: child.stdout }).on('line', (line) => {
    kept.push(line);
    if (killAfter !== undefined && kept.length >= killAfter) child.kill('SIGKILL');
  });
  const code = await new Promise<number | null>((resolve) => void child.once('close', resolve));
  return { kept, code, stderr };
}

/** How often each entry stands in the file that it belongs into. */
async function counted(folder: string, entries: readonly string[]): Promise<Map<string, number>> {
  const memory = join(folder, folder.endsWith('grimoire') ? '_grimoire/_memory' : '_bmad/_memory');
  const read = (path: string): Promise<string> => readFile(join(memory, path), 'utf8').catch(() => '');
  const log = await read('failure-museum.jsonl');
  const problems: string[] = [];
  const failures = log === '' ? museumIn(await read('failure-museum.md'), '') : museumLog(log, '', problems);
  expect(problems).toEqual([]);
  const learnt = await readdir(join(memory, 'agent-learnings'));
  const texts = [
    await read('decisions-log.md'),
    (await Promise.all(learnt.map((name) => read(`agent-learnings/${name}`)))).join('\n'),
    failures.map(({ title }) => title).join('\n'),
    await read('handoff-log.md'),
  ].map((text) => text.split(/[\n|]/).map((line) => line.replace(/^- \[[\d-]+\] /, '').trim()));
  return new Map(
    entries.map((entry) => {
      const turn = Number(/\d+/.exec(entry)?.[0]) % texts.length;
      return [entry, (texts[turn] ?? []).filter((line) => line === entry).length];
    }),
  );
}

describe.each([
  ['bmad', KIT_FILES],
  ['grimoire', GRIMOIRE_FILES],
])('many processes that log into one project of the family %s', (family, files) => {
  it(
    'lose nothing and write nothing twice',
    async () => {
      const folder = join(await temporaryFolder(onTestFinished), family);
      await writeFiles(folder, files);
      const names = Array.from({ length: WRITERS }, (_, index) => `writer-${index}`);
      const runs = await Promise.all(names.map((name) => runWriter(folder, name, WRITES)));
      expect(runs.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
        names.map(() => ({ code: 0, stderr: '' })),
      );
      const kept = runs.flatMap((run) => run.kept);
      expect(kept).toHaveLength(WRITERS * WRITES);
      const wrong = [...(await counted(folder, kept))].filter(([, times]) => times !== 1);
      expect(wrong).toEqual([]);
    },
    LONG,
  );

  it(
    'and are killed meanwhile leave whole files with everything that was kept',
    async () => {
      const folder = join(await temporaryFolder(onTestFinished), family);
      await writeFiles(folder, files);
      const kept: string[] = [];
      for (let round = 0; round < KILLS; round += 1) {
        // Two at once: one dies while the other goes on and takes over what it has left.
        const runs = await Promise.all([
          runWriter(folder, `killed-${round}`, 1_000, 3 + ((round * 7) % 23)),
          runWriter(folder, `other-${round}`, 12),
        ]);
        expect(runs[1]).toMatchObject({ code: 0, stderr: '' });
        kept.push(...runs.flatMap((run) => run.kept));
      }
      const lost = [...(await counted(folder, kept))].filter(([, times]) => times !== 1);
      expect(lost).toEqual([]);
    },
    LONG,
  );
});
