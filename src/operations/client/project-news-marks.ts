import { ours } from '../../base/expected.ts';
import { sha256 } from '../../base/sha256.ts';
import type { Context } from '../context.ts';

/** Newer verdicts come first; a session that was away for longer reads the list. */
const RECEIPTS = 20;
const READY = new Set(['ready-for-dev', 'drafted', 'Approved']);

/** Texts of files must not reach a session by itself: what stands for them tells them apart, and nothing else. */
const mark = (text: string): string => sha256(text).slice(0, 16);

export async function newsMarks(context: Context) {
  const sources = await context
    .gitSources()
    .then(async (team) => team.views(await team.all()))
    .catch(ours(() => []));
  const marks = sources.map(({ address, pin, pending }) =>
    mark(JSON.stringify([address.source, pin?.commit, pending?.commit])),
  );
  const { project, catalogue } = await context.workspace();
  if (project.root === undefined) return { approved: [], failed: [], ready: [], sources: marks };
  const state = await context.state();
  const tasks = await state
    .tasks()
    .then(async ({ queue }) => (await queue.all()).tasks)
    .catch(ours(() => []));
  const receipts = await state
    .completion()
    .then(async (completion) => (await completion.receipts()).intact)
    .catch(ours(() => []));
  const items = await state
    .progress()
    .then(async (progress) => (await progress.next(catalogue)).report.items)
    .catch(ours(() => []));
  return {
    approved: tasks.filter(({ approval }) => approval?.agreed === true).map(({ task_id }) => mark(task_id)),
    failed: receipts
      .slice(-RECEIPTS)
      .filter(({ status }) => status === 'FAIL')
      .map(({ id }) => mark(id)),
    ready: items.filter(({ status }) => READY.has(status ?? '')).map(({ id }) => mark(id)),
    sources: marks,
  };
}
