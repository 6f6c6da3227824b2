import { fenced } from '../../base/text/text.ts';
import { FINAL_STATES, type TaskState } from '../../model/task.ts';
import type { Context, StatePort } from '../context.ts';
import { contractData, contractLine, findingLines } from '../handover/handover-view.ts';
import { taskLine, viewOf } from '../tasks/task-view.ts';

/** `bmad://tasks`, `bmad://tasks/{task_id}`, `bmad://contracts` and `bmad://contracts/{contract_id}`. */
const WORK_URI = /^bmad:\/\/(tasks|contracts)(?:\/([\w.-]{1,200}))?\/?$/i;

export interface WorkPlace {
  what: 'tasks' | 'contracts';
  id: string | undefined;
}

export const WORK_RESOURCES = [
  { name: 'tasks', description: 'Tasks for sub-agents: what is waiting, who works on what, what is done' },
  { name: 'contracts', description: 'Delivery contracts between teams and their status' },
] as const;

export function workPlace(uri: string): WorkPlace | undefined {
  const [, what, id] = WORK_URI.exec(uri) ?? [];
  if (what === undefined) return undefined;
  return { what: what.toLowerCase() === 'tasks' ? 'tasks' : 'contracts', id };
}

export async function workText(
  { what, id }: WorkPlace,
  context: StatePort,
  project?: string,
): Promise<string> {
  const state = await context.state(project);
  return what === 'tasks' ? taskText(await state.tasks(), id) : contractText(await state.handovers(), id);
}

/** A resource comes whole: of what has ended it has the last, so that it does not grow with all that was ever done. */
const MOST_ENDED = 100;
const hasEnded = (status: TaskState): boolean => FINAL_STATES.includes(status);

type State = Awaited<ReturnType<Context['state']>>;

async function taskText(
  { queue }: Awaited<ReturnType<State['tasks']>>,
  id: string | undefined,
): Promise<string> {
  if (id === undefined) {
    const { tasks, problems } = await queue.all();
    const open = tasks.filter(({ status }) => !hasEnded(status));
    const shown = new Set([...open, ...tasks.filter(({ status }) => hasEnded(status)).slice(-MOST_ENDED)]);
    const lines = tasks.filter((task) => shown.has(task)).map((task) => taskLine(viewOf(task)));
    const left = tasks.length - lines.length;
    return [
      `# Tasks`,
      ...problems,
      lines.join('\n') || 'There are no tasks.',
      ...(left === 0 ? [] : [`${left} more have ended: task_list has them, page by page.`]),
    ].join('\n\n');
  }
  const task = await queue.get(id);
  const result = await queue.result(task);
  return [
    taskLine(viewOf(task)),
    `## Brief\n\n${fenced(await queue.brief(task), 'markdown')}`,
    ...(result === undefined ? [] : [`## Result\n\n${fenced(result)}`]),
  ].join('\n\n');
}

async function contractText(
  { contracts }: Awaited<ReturnType<State['handovers']>>,
  id: string | undefined,
): Promise<string> {
  if (id === undefined) {
    const { contracts: kept, problems } = await contracts.all();
    const lines = kept.map((each) => contractLine(contractData(each)));
    return ['# Delivery contracts', ...problems, lines.join('\n') || 'There are no contracts.'].join('\n\n');
  }
  const kept = await contracts.get(id);
  const { valid, findings } = await contracts.validate(kept);
  return [
    contractLine(contractData(kept)),
    valid ? 'It is complete.' : ['It is not complete:', ...findingLines(findings)].join('\n'),
    fenced(kept.text, 'markdown'),
  ].join('\n\n');
}

/** The ids that there are, for completions. */
export async function workIds(what: WorkPlace['what'], context: StatePort): Promise<string[]> {
  const state = await context.state();
  if (what === 'tasks') return (await (await state.tasks()).queue.all()).tasks.map(({ task_id }) => task_id);
  return (await (await state.handovers()).contracts.all()).contracts.map(({ id }) => id);
}
