import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { contextIn, temporaryFolder, testCall } from '../../../tests/support/app.ts';
import { KIT_FILES, writeFiles } from '../../../tests/support/kit-project.ts';
import { impl, ledger } from '../../../tests/support/progress-trees/pieces.ts';
import { CATEGORIES } from '../../model/memory.ts';
import { execute } from '../execute.ts';
import { logFailure } from '../project/failures.ts';
import type { AnyOperation } from '../operation.ts';
import { rememberStructured } from '../memory/remember.ts';
import { runOpen } from '../runs/run-operations.ts';
import { spawnSubagentTask } from '../tasks/tasks.ts';
import { projectMarks, TOPICS } from './change-feed.ts';

const folder = await temporaryFolder(afterAll);
await writeFiles(folder, KIT_FILES);
const context = await contextIn(folder, { flags: { embedder: 'none' } });

async function done(
  operation: AnyOperation,
  input: object,
  where = context,
): Promise<Record<string, unknown>> {
  const outcome = await execute(operation, input, where, testCall());
  if (!outcome.ok) throw outcome.error;
  return outcome.data;
}

const marks = async (where = context): Promise<Record<string, string>> =>
  Object.fromEntries((await projectMarks(where, undefined)).marks);

/** The topics that something changes. */
async function changedBy(act: () => Promise<unknown>): Promise<string[]> {
  const before = await marks();
  await act();
  const after = await marks();
  return TOPICS.filter((topic) => before[topic] !== after[topic]);
}

describe('the marks of a project', () => {
  it('are the same for every process that looks, and as long as nothing changes', async () => {
    const first = await marks();
    expect(Object.keys(first)).toEqual([...TOPICS]);
    expect(await marks()).toEqual(first);
    expect(await marks(await contextIn(folder, { flags: { embedder: 'none' } }))).toEqual(first);
    const file = join(folder, '_bmad/_memory/decisions-log.md');
    expect(await changedBy(async () => writeFile(file, await readFile(file)))).toEqual([]);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['tasks', () => done(spawnSubagentTask, { agent: 'dev', task: 'Do it', output_key: 'it' })],
    ['runs', () => done(runOpen, { workflow: 'prd' })],
    ['memory', () => done(rememberStructured, { type: 'decisions', agent: 'dev', text: 'We use NATS' })],
    [
      'memory',
      () => appendFile(join(folder, '_bmad/_memory/decisions-log.md'), '- [2026-03-01] [ARCH] No queue\n'),
    ],
    ['progress', () => writeFiles(folder, { [`${impl}/sprint-status.yaml`]: ledger({ '1-1-a': 'done' }) })],
    ['failures', () => done(logFailure, { title: 'Shipped untested', category: CATEGORIES[0] })],
    ['content', () => writeFiles(folder, { '_bmad/custom/agents/ada.md': '---\nname: ada\n---\n# Ada\n' })],
  ])('differ in %s when that does', async (topic, act) => {
    expect(await changedBy(act)).toContain(topic);
  });
});
