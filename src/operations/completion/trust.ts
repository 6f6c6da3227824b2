import { say, t } from '../../base/text/message.ts';
import * as z from 'zod';
import { BmadError, quoted } from '../../base/errors.ts';
import { present } from '../../base/values.ts';
import { lines } from '../answer-text.ts';
import type { Call, Context } from '../context.ts';
import { ON_THE_PAGE } from '../offers.ts';
import { defineOperation } from '../operation.ts';

const recordSchema = z.object({
  root: z.string(),
  /** The folder of the project that it is about; `.` for the project itself. */
  id: z.string(),
  digest: z.string(),
  by: z.string(),
  via: z.string(),
  at: z.string(),
  parts: z.record(z.string(), z.string()).optional(),
});

const outcomeSchema = z.enum([
  'trusted',
  'already_trusted',
  'not_trusted',
  'nothing_to_run',
  'shown',
  'revoked',
  'listed',
]);

type TrustOutcome = z.output<typeof outcomeSchema>;

const inputSchema = z.strictObject({
  folder: z.string().trim().min(1).max(4_000).optional().describe('Project folder; default: this project'),
  working_dir: z
    .string()
    .trim()
    .min(1)
    .max(1_000)
    .optional()
    .describe('Folder in the project with its own scripts'),
  show: z.boolean().default(false).describe('Only show what would run, and its digest'),
  yes: z.boolean().default(false).describe('Allow it without asking, for scripts'),
  digest: z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'Expected the 64 digits that "trust --show" ends with.')
    .optional()
    .describe('What you allow, as "trust --show" gives it; refused if it has changed'),
  commit: z
    .string()
    .regex(/^[0-9a-f]{40,64}$/, 'Expected a whole commit id.')
    .optional()
    .describe('The commit it was shown at; refused if another one is checked out'),
  list: z.boolean().default(false).describe('List the projects that are allowed'),
  revoke: z.boolean().default(false).describe('Take the permission back'),
});

export const trust = defineOperation({
  name: 'trust',
  title: 'Allow a project to run its programs',
  description:
    "Show what a project's completion contract would run, and allow it on this machine. It is asked again when any of that changes, or when git has checked out another line of history.",
  effect: 'write',
  command: 'trust',
  forPeople: true,
  positional: ['folder'],
  examples: ['trust', 'trust --show', 'trust --yes', 'trust --list', 'trust --revoke'],
  input: inputSchema,
  output: z.object({
    outcome: outcomeSchema,
    root: z.string().optional(),
    working_dir: z.string().optional(),
    /** What would run, whole, in lines. */
    programs: z.array(z.string()),
    /** Stands for all of it. */
    digest: z.string().optional(),
    records: z.array(recordSchema),
    notes: z.array(z.string()),
  }),
  writes: ({ list, show }) => !list && !show,

  async run(input, context, call) {
    const { folder, list, revoke, show } = input;
    const chosen = (['show', 'yes', 'list', 'revoke'] as const).filter((name) => input[name]);
    if (chosen.length > 1)
      throw new BmadError(
        'invalid_input',
        t`Use only one of ${chosen.map((name) => `"${name}"`).join(', ')}.`,
      );
    const none = { programs: [], records: [], notes: [] };
    if (list) return { ...none, outcome: 'listed' as const, records: await allowedIn(context) };
    if (revoke) return { ...none, outcome: 'revoked' as const, root: await revoked(folder, context, call) };
    const { told, consent } = await read(input, context);
    if (show) return { ...told, outcome: 'shown' as const };
    return { ...told, outcome: await decided(input, consent, call) };
  },

  failed: ({ outcome }) => outcome === 'not_trusted',

  render: (data) => ({
    asStored: true,
    body: lines(
      data.outcome === 'listed'
        ? data.records.length === 0
          ? t`No project is allowed to run its programs.`
          : data.records.map(
              ({ root, id, at, by, via }) =>
                t`${id === '.' ? root : `${root}, ${id}`}, since ${at}, by ${by} (${via})`,
            )
        : t`${say(SAID[data.outcome])}: ${data.root ?? ''}`,
      data.programs,
      data.notes.map((note) => `- ${note}`),
    ),
    ...(data.outcome === 'not_trusted'
      ? {
          note: t`This session cannot ask for your confirmation.`,
          steps: [
            {
              operation: 'trust',
              args: { folder: data.root, working_dir: data.working_dir, yes: true, digest: data.digest },
              why: t`Allow it, if you have read what would run and trust its author`,
            },
          ],
        }
      : {}),
  }),
});

const SAID: Readonly<Record<TrustOutcome, string>> = {
  trusted: 'Allowed, exactly as shown',
  already_trusted: 'Already allowed',
  not_trusted: 'Not allowed yet',
  nothing_to_run: 'There is nothing to run in this project',
  shown: 'Would run',
  revoked: 'No longer allowed',
  listed: '',
};

type TrustInput = z.output<typeof inputSchema>;

/** What is shown is what is recorded: it is read once. */
async function read({ folder, working_dir }: TrustInput, context: Context) {
  const state = await context.state(folder);
  const consent = await (await state.completion()).consent(working_dir);
  const { root, lines: programs, digest } = consent;
  const notes =
    context.config.trust[0] === 'never'
      ? [t`It will not run all the same: the setting trust is "never" (${context.configFrom.trust}).`]
      : [];
  return { consent, told: present({ root, working_dir, programs, digest, records: [], notes }) };
}

type Consent = Awaited<ReturnType<typeof read>>['consent'];

async function decided(
  { yes, digest, commit }: TrustInput,
  consent: Consent,
  call: Call,
): Promise<TrustOutcome> {
  if (yes && digest === undefined && call.typed !== true)
    throw new BmadError('invalid_input', t`A yes needs the digest of what was shown.`, {
      subject: 'digest',
      hint: t`Show it again, and decide on that.`,
    });
  if ((digest ?? consent.digest) !== consent.digest || (commit ?? consent.commit) !== consent.commit)
    throw new BmadError('conflict', t`Nothing is allowed: this is not what was shown.`, {
      subject: consent.root,
      hint: [t`This is what would run now.`, ...consent.lines].join('\n'),
    });
  if (consent.empty) return 'nothing_to_run';
  if (consent.allowed) return 'already_trusted';
  if (yes) {
    await (call.person === true ? consent.record('page', ON_THE_PAGE) : consent.record('flag'));
    return 'trusted';
  }
  if (call.confirm === undefined) return 'not_trusted';
  const answer = await call.confirm(consent.question);
  if (!answer.yes) throw new BmadError('cancelled', t`It is not allowed: ${answer.why}.`);
  await consent.record(call.typed === true ? 'terminal' : 'host');
  return 'trusted';
}

/** What people have allowed on this machine, by the paths of the projects. */
async function allowedIn(context: Context) {
  const book = await context.decisions();
  const all = (await book.projects()).map(async (root) =>
    [...(await book.of(root).all('programs')).values()].flatMap(({ yes, ...one }) =>
      yes ? [{ ...one, root }] : [],
    ),
  );
  return (await Promise.all(all)).flat();
}

/** By the path that is on record, also of a folder that is gone; else by the project at this place. */
async function revoked(folder: string | undefined, context: Context, call: Call): Promise<string> {
  const allowed = await allowedIn(context);
  const named = allowed.find(({ root }) => root === folder)?.root;
  const root = named ?? (await context.state(folder)).root;
  const own = allowed.filter((one) => one.root === root);
  const decisions = (await context.decisions()).of(root);
  const isOnPage = call.person === true;
  const by = isOnPage ? ON_THE_PAGE : t`a person at the command line`;
  for (const { id, digest } of own)
    await decisions.decide({ kind: 'programs', id, digest, yes: false, by, via: isOnPage ? 'page' : 'flag' });
  if (own.length > 0) return root;
  throw new BmadError('not_found', t`${quoted(root)} was not allowed to run its programs.`, {
    steps: [{ operation: 'trust', args: { list: true }, why: t`List the projects that are` }],
  });
}
