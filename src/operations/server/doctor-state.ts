import { plural, t } from '../../base/text/message.ts';
import { ours } from '../../base/expected.ts';
import { tellsConflict } from '../../base/text/conflicts.ts';
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
  const facts = await state.facts();
  const known = await facts.context();
  const memory = await context.memory(project, false);
  const mild = new Set(known.mild);
  const all = new Set(known.warnings);
  const parts: (() => Promise<readonly string[]>)[] = [
    () => memory.fileProblems(),
    async () => (await facts.museum()).problems,
    () => runProblems(state),
    async () => (await (await state.tasks()).queue.all()).problems,
    async () => (await (await state.handovers()).contracts.all()).problems,
    async () => conflictsInLedgers(await (await state.progress()).troubles()),
  ];
  for (const part of parts)
    for (const text of await part().catch(ours(({ message }) => [message]))) all.add(text);
  return [...all].map((text) => ({
    level: mild.has(text) ? 'notice' : 'broken',
    about: 'project-state',
    text,
  }));
}

/** What else is wrong with planning files is told by the report itself. */
function conflictsInLedgers(troubles: readonly { file: string; message: string }[]): string[] {
  return troubles
    .filter(({ message }) => tellsConflict(message))
    .map(({ file, message }) => t`${file}: ${message}.`);
}

/** Files of runs that cannot be read; what merely does not fit together is told with the run itself. */
async function runProblems(state: Awaited<ReturnType<Context['state']>>): Promise<string[]> {
  const { branches } = await (await state.runs()).read();
  const all = branches.flatMap(({ runs }) => runs);
  const told = [...branches, ...all].flatMap(({ problems }) => problems).filter(tellsConflict);
  const unread = all.filter(({ status, problems }) => status === 'unknown' && !problems.some(tellsConflict));
  if (unread.length === 0) return told;
  const named = unread.slice(0, NAMED).map(({ id, problems }) => problems[0] ?? id);
  const more = unread.length > NAMED ? t`, and ${unread.length - NAMED} more` : '';
  return [...told, t`${plural(unread.length, 'run')} that cannot be read: ${named.join(' ')}${more}`];
}
