import { commandLine } from '../command-line.ts';
import type { Call, Context, StatePort } from '../context.ts';
import { toolCall } from '../unified/forms.ts';

type Part = Awaited<ReturnType<Awaited<ReturnType<Context['state']>>['older']>>[number];

/** How each part is called in an answer. */
export const PART_NAMES: Record<Part['part'], string> = {
  memories: 'memories',
  pages: 'handoffs and sessions',
  runs: 'runs',
  tasks: 'tasks',
  receipts: 'receipts',
};

/** What an answer says of state that it does not have, because the project got its own place for it later. */
export function olderNote({ part, from, to }: Part, { say = toolCall }: Pick<Call, 'say'>): string {
  const step = { operation: 'move_state', why: '' };
  return `Older ${PART_NAMES[part]} of this project are in ${from}, where they were kept before it had ${to}. To move them: ${say(step) ?? commandLine(step) ?? ''}. Merge by hand and remove anything that stays behind.`;
}

/** The notes for an answer that looks for these parts; where there is no project, there are none. */
export async function olderNotes(
  context: StatePort,
  project: string | undefined,
  parts: readonly Part['part'][],
  call: Pick<Call, 'say'>,
): Promise<string[]> {
  const older = await (await context.state(project)).older();
  return older.filter(({ part }) => parts.includes(part)).map((each) => olderNote(each, call));
}
