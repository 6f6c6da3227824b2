import { say, t } from '../../base/text/message.ts';
import * as z from 'zod';
import { lines } from '../answer-text.ts';
import { stepsField } from '../fields.ts';
import type { Answer } from '../operation.ts';

/** What the operations that write something down share. */

export const loggedSchema = z.object({
  outcome: z.enum(['created', 'updated', 'unchanged']),
  /** How to name it later on. */
  id: z.string().optional(),
  text: z.string(),
  /** Files that have it now, as paths in the project. */
  files: z.array(z.string()),
  notes: z.array(z.string()),
  /** What can be done about what it was found beside. */
  steps: stepsField,
});

/** Said of a text that the project's own people would have written in another language. */
export function languageNote({ spoken, wanted }: { spoken: string; wanted: string }): string {
  return t`The text is in ${spoken}; the language of this project is ${wanted}.`;
}

export const lineField = z.string().trim().min(1).max(20_000);
export const agentField = z.string().min(1).max(200);

/** What is said of each: the words differ, so that a language can have its own for each. */
const DONE = {
  decision: { created: 'Decision logged', updated: 'Decision updated', unchanged: 'Decision already known' },
  learning: { created: 'Learning logged', updated: 'Learning updated', unchanged: 'Learning already known' },
  failure: { created: 'Failure logged', updated: 'Failure updated', unchanged: 'Failure already known' },
  handoff: { created: 'Handoff logged', updated: 'Handoff updated', unchanged: 'Handoff already known' },
  session: { created: 'Session logged', updated: 'Session updated', unchanged: 'Session already known' },
} as const;

export function logged(
  what: keyof typeof DONE,
  { outcome, id, text, files, notes, steps = [] }: z.output<typeof loggedSchema>,
): Answer {
  return {
    body: lines(
      t`${say(DONE[what][outcome])}: ${text}`,
      id === undefined ? undefined : `id ${id}`,
      files.length === 0 ? undefined : t`In ${files.join(', ')}`,
      notes,
    ),
    steps,
  };
}
