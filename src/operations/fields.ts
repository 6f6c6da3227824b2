import * as z from 'zod';
import type { Step } from '../base/step.ts';
import { t } from '../base/text/message.ts';

/** A text that is there, and no longer than this. */
export const textUpTo = (most: number): z.ZodString => z.string().min(1).max(most);

/** Arguments that several operations share, so that they are described in the same words everywhere. */
export const moduleField = textUpTo(100).optional().describe('Module code, e.g. "bmm"');
export const originField = textUpTo(200).optional().describe('Where it comes from: project, package, git, …');
export const projectField = textUpTo(1_000)
  .optional()
  .describe('Project folder, if not the one the server runs for');
/** The same where the description of the operation says the rest. */
export const whereField = textUpTo(1_000).optional().describe('Project folder');
export const tagsField = z.array(textUpTo(200)).max(50);
export const cursorField = textUpTo(200).optional().describe('Continues an answer that had more parts');
export const sectionField = textUpTo(200).optional().describe('Only the section with this heading');

/** A text that may be given as a list of its lines. */
export const textOrLines = (text: z.ZodString) =>
  z.union([text, z.array(text).min(1).max(200)], { error: t`Expected a text, or a list of texts.` });

/** The same as one text. */
export function asLines(given: string | readonly string[] | undefined): string | undefined {
  return given === undefined || typeof given === 'string' ? given : given.join('\n');
}

export const DETAILS = ['brief', 'standard', 'full'] as const;
export type Detail = (typeof DETAILS)[number];
export const detailField = z.enum(DETAILS).default('standard').describe('brief, standard (default) or full');
export const limitField = z.int().min(1).max(200).optional().describe('Entries on a page');
/** Of operations that list what a project offers, page by page. */
export const pageFields = {
  cursor: cursorField,
  limit: limitField,
  detail: detailField,
  project: projectField,
};

/** Steps that belong to an answer, as programs read them. */
export const stepSchema: z.ZodType<Step, Step> = z.object({
  operation: z.string(),
  args: z.record(z.string(), z.unknown()).optional(),
  open: z.array(z.string()).optional(),
  why: z.string(),
});
export const stepsField = z.array(stepSchema).optional();

export const deferredSchema = z.object({ file: z.string(), open: z.int() });
