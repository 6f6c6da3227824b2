import * as z from 'zod';
import { asWritten } from '../../base/text/text.ts';
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
  return `The text is in ${spoken}; the language of this project is ${wanted}.`;
}

export const lineField = z.string().trim().min(1).max(20_000);
export const agentField = z.string().min(1).max(200);

export function logged(
  what: string,
  { outcome, id, text, files, notes, steps = [] }: z.output<typeof loggedSchema>,
): Answer {
  const done = { created: `${what} logged`, updated: `${what} updated`, unchanged: `${what} already known` };
  return {
    body: lines(
      `${done[outcome]}: ${asWritten(text)}`,
      id === undefined ? undefined : `id ${id}`,
      files.length === 0 ? undefined : `In ${files.join(', ')}`,
      notes,
    ),
    steps,
  };
}
