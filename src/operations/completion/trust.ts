import * as z from 'zod';
import { BmadError, quoted } from '../../base/errors.ts';
import { fenced, plural } from '../../base/text/text.ts';
import { lines } from '../answer-text.ts';
import type { Call, Context } from '../context.ts';
import { defineOperation } from '../operation.ts';

const recordSchema = z.object({
  root: z.string(),
  trusted: z.string(),
  files: z.record(z.string(), z.string()),
});

const outcomeSchema = z.enum([
  'trusted',
  'already_trusted',
  'not_trusted',
  'nothing_to_run',
  'revoked',
  'listed',
]);

type TrustOutcome = z.output<typeof outcomeSchema>;

export const trust = defineOperation({
  name: 'trust',
  title: 'Allow a project to run its programs',
  description:
    "Show what a project's completion contract would run, and allow it on this machine. It is asked again when the project's scripts change.",
  effect: 'write',
  command: 'trust',
  positional: ['folder'],
  examples: ['trust', 'trust --yes', 'trust --list', 'trust --revoke'],
  input: z.strictObject({
    folder: z.string().trim().min(1).max(4_000).optional().describe('Project folder; default: this project'),
    working_dir: z
      .string()
      .trim()
      .min(1)
      .max(1_000)
      .optional()
      .describe('Folder in the project with its own scripts'),
    yes: z.boolean().default(false).describe('Allow it without asking, for scripts'),
    list: z.boolean().default(false).describe('List the projects that are allowed'),
    revoke: z.boolean().default(false).describe('Take the permission back'),
  }),
  output: z.object({
    outcome: outcomeSchema,
    root: z.string().optional(),
    /** What would run, in lines. */
    programs: z.array(z.string()),
    /** The text of the project's script, where a decision is still to be made. */
    script: z.string().optional(),
    records: z.array(recordSchema),
    notes: z.array(z.string()),
  }),
  writes: ({ list }) => !list,

  async run({ folder, working_dir: workingDir, yes, list, revoke }, context, call) {
    if (list && revoke) throw new BmadError('invalid_input', 'Use either "list" or "revoke", not both.');
    const none = { programs: [], records: [], notes: [] };
    if (list)
      return { ...none, outcome: 'listed' as const, records: [...(await (await context.trusted()).all())] };
    if (revoke) return { ...none, outcome: 'revoked' as const, root: await revoked(folder, context) };
    return decided({ folder, workingDir, yes }, context, call);
  },

  failed: ({ outcome }) => outcome === 'not_trusted',

  render: (data) => ({
    asStored: true,
    body: lines(
      data.outcome === 'listed'
        ? data.records.length === 0
          ? 'No project is allowed to run its programs.'
          : data.records.map(
              ({ root, trusted, files }) =>
                `${root}, since ${trusted}, ${plural(Object.keys(files).length, 'file')}`,
            )
        : `${SAID[data.outcome]}: ${data.root ?? ''}`,
      data.programs,
      data.script === undefined ? undefined : fenced(data.script),
      data.notes.map((note) => `- ${note}`),
    ),
    ...(data.outcome === 'not_trusted'
      ? {
          note: 'There is no one to ask here.',
          steps: [
            {
              operation: 'trust',
              args: { folder: data.root, yes: true },
              why: 'Allow it, if you have read what would run and trust its author',
            },
          ],
        }
      : {}),
  }),
});

const SAID: Readonly<Record<TrustOutcome, string>> = {
  trusted: 'Allowed until its scripts change',
  already_trusted: 'Already allowed',
  not_trusted: 'Not allowed yet',
  nothing_to_run: 'There is nothing to run in this project',
  revoked: 'No longer allowed',
  listed: '',
};

interface TrustRequest {
  folder: string | undefined;
  workingDir: string | undefined;
  yes: boolean;
}

async function decided({ folder, workingDir, yes }: TrustRequest, context: Context, call: Call) {
  const state = await context.state(folder);
  const consent = await (await state.completion()).consent(workingDir);
  const told = { root: consent.root, programs: consent.lines, records: [], notes: [] as string[] };
  if (context.config.trust[0] === 'never')
    told.notes.push(
      `It will not run all the same: the setting trust is "never" (${context.configFrom.trust}).`,
    );
  if (consent.empty) return { ...told, outcome: 'nothing_to_run' as const };
  if (consent.allowed) return { ...told, outcome: 'already_trusted' as const };
  if (!yes) {
    const script = consent.script;
    if (call.confirm === undefined)
      return { ...told, outcome: 'not_trusted' as const, ...(script === undefined ? {} : { script }) };
    const answer = await call.confirm(consent.question);
    if (!answer.yes) throw new BmadError('cancelled', `It is not allowed: ${answer.why}.`);
  }
  await consent.record();
  return { ...told, outcome: 'trusted' as const };
}

/** By the path that is on record, also of a folder that is gone; else by the project at this place. */
async function revoked(folder: string | undefined, context: Context): Promise<string> {
  const trusted = await context.trusted();
  const named = (await trusted.all()).find(({ root }) => root === folder)?.root;
  const root = named ?? (await context.state(folder)).root;
  if (await trusted.revoke(root)) return root;
  throw new BmadError('not_found', `${quoted(root)} was not allowed to run its programs.`, {
    steps: [{ operation: 'trust', args: { list: true }, why: 'List the projects that are' }],
  });
}
