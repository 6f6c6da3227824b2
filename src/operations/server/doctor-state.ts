import { ours } from '../../base/expected.ts';
import { plural } from '../../base/text/text.ts';
import type { Context } from '../context.ts';

interface StateFinding {
  level: 'broken' | 'notice';
  about: 'project-state';
  text: string;
}

const NAMED = 3;

/** What is wrong with the project's own state: the kit's files, its memories and its runs. */
export async function stateFindings(
  context: Pick<Context, 'state' | 'memory'>,
  project: string | undefined,
): Promise<StateFinding[]> {
  const state = await context.state(project);
  const known = await (await state.facts()).context();
  const memory = await context.memory(project, false);
  const remembered = await memory.fileProblems().catch(ours(({ message }) => [message]));
  const runs = await runProblems(state).catch(ours(({ message }) => [message]));
  const mild = new Set(known.mild);
  const all = new Set([...known.warnings, ...remembered, ...runs]);
  return [...all].map((text) => ({
    level: mild.has(text) ? 'notice' : 'broken',
    about: 'project-state',
    text,
  }));
}

/** Files of runs that cannot be read; what merely does not fit together is told with the run itself. */
async function runProblems(state: Awaited<ReturnType<Context['state']>>): Promise<string[]> {
  const { branches } = await (await state.runs()).read();
  const unread = branches.flatMap(({ runs }) => runs).filter(({ status }) => status === 'unknown');
  if (unread.length === 0) return [];
  const named = unread.slice(0, NAMED).map(({ id, problems }) => problems[0] ?? id);
  const more = unread.length > NAMED ? `, and ${unread.length - NAMED} more` : '';
  return [`${plural(unread.length, 'run')} that cannot be read: ${named.join(' ')}${more}`];
}
