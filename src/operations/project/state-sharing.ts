import * as z from 'zod';
import { BmadError } from '../../base/errors.ts';
import { plural, say, t } from '../../base/text/message.ts';
import { lines } from '../answer-text.ts';
import type { Context, ProjectDatabase } from '../context.ts';
import { projectField, textUpTo } from '../fields.ts';
import { defineOperation } from '../operation.ts';

/** A command for people: whether others get what was remembered is not for a model to decide. */
export const stateShare = defineOperation({
  name: 'state_share',
  title: 'Share memories through git',
  description:
    'Let git see the lines that are the memories of this project, so that colleagues get them once they are committed, or hide them from git again. Says what others will see.',
  effect: 'write',
  command: 'state share',
  examples: ['state share', 'state share --off'],
  input: z.strictObject({
    off: z.boolean().default(false).describe('Hide them from git again'),
    project: projectField,
  }),
  output: z.object({
    shared: z.boolean().describe('Whether git sees the lines now'),
    changed: z.boolean().describe('Whether that is new'),
    folder: z.string().describe('The folder of the lines'),
    memories: z.int().describe('Memories in use, replaced ones included'),
    forgotten: z.int().describe('Forgotten ones, whose text is still in the lines'),
  }),
  async run({ off }, context) {
    const state = await context.state();
    const { home, parts } = await state.place();
    const folder = parts.find(({ part }) => part === 'memories')?.folder ?? '';
    if (home === 'user')
      throw new BmadError('conflict', t`The memories of this project are kept in your user folder.`, {
        hint: t`Git does not see that folder. Move them into the project first.`,
        steps: [{ operation: 'project_state', why: t`See where it is kept` }],
      });
    const changed = await state.shareLines(!off);
    const { live, superseded, forgotten } = await (await context.memory(false)).stats({ stored: true });
    return { shared: !off, changed, folder, memories: live + superseded, forgotten };
  },
  render: ({ shared, changed, folder, memories, forgotten }) => ({
    body: shared
      ? lines(
          changed ? t`Git sees the lines in ${folder} now.` : t`Git already sees the lines in ${folder}.`,
          t`Once they are committed, others see ${plural(memories, 'memory', 'memories')} with their earlier wordings, who wrote them, and when.`,
          forgotten === 0
            ? undefined
            : t`They also have the text of ${plural(forgotten, 'forgotten memory', 'forgotten memories')}, unless it is purged first.`,
          t`Receipts and your own decisions are not shared.`,
        )
      : lines(
          changed
            ? t`Git ignores the lines in ${folder} now.`
            : t`Git already ignores the lines in ${folder}.`,
          t`What is committed stays in its history; git rm -r --cached ${folder} takes it out of the next commit.`,
        ),
  }),
});

/** What a team keeps in a database: commands for people, who run it. */

const addressField = textUpTo(2_000)
  .optional()
  .describe('An address in place of the one in the setting state, or the path of a file that has one');

const noDatabase = (): BmadError =>
  new BmadError('not_found', t`No database is set for the state of projects: it is in files.`, {
    hint: t`The address is the setting state (BMAD_STATE).`,
    steps: [{ operation: 'project_state', why: t`See where the files are` }],
  });

async function using<T>(
  context: Context,
  address: string | undefined,
  work: (database: ProjectDatabase) => Promise<T>,
): Promise<T> {
  const database = await (await context.state()).database(address);
  if (database === undefined) throw noDatabase();
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

export const stateShow = defineOperation({
  name: 'state_show',
  title: 'Where the lines of a project are',
  description:
    'Whether the memories, tasks, runs and receipts of this project are in files or in the database of a team, with its version, what it has of the project, and how long it takes to answer.',
  effect: 'read',
  command: 'state show',
  input: z.strictObject({ project: projectField }),
  output: z.object({
    where: z.enum(['files', 'database']),
    place: z.string().describe('The folder, or the address without its password'),
    key: z.string().optional().describe('What the project is called there'),
    server: z.int().optional().describe('The version of PostgreSQL'),
    schema: z.int().optional().describe('The version of the tables'),
    expected: z.int().optional().describe('The version that this server needs'),
    lines: z
      .record(z.string(), z.int())
      .optional()
      .describe('How many lines there are, by what they are about'),
    milliseconds: z.number().optional().describe('How long a question takes'),
  }),
  async run(_input, context) {
    const state = await context.state();
    const database = await state.database();
    if (database === undefined) {
      const { parts, folders } = await state.place();
      const folder = parts.find(({ part }) => part === 'memories')?.folder ?? folders[0] ?? '';
      return { where: 'files' as const, place: folder };
    }
    const { key, schema, expected, nouns, ms } = await database.counted();
    return {
      where: 'database' as const,
      place: database.shown,
      key,
      server: Math.floor(schema.server / 10_000),
      schema: schema.version ?? 0,
      expected,
      lines: nouns,
      milliseconds: Math.round(ms * 10) / 10,
    };
  },
  render({
    where,
    place,
    key = '',
    server = 0,
    schema = 0,
    expected = 0,
    lines: counts = {},
    milliseconds = 0,
  }) {
    if (where === 'files') return { body: t`The lines of this project are in files: ${place}` };
    const all = Object.entries(counts).map(([noun, count]) => `${noun} ${count}`);
    return {
      body: lines(
        t`The lines of this project are in ${place}, where it is called ${key}.`,
        t`PostgreSQL ${server}, tables of version ${schema}; it answers in ${milliseconds} ms.`,
        schema === expected
          ? all.length === 0
            ? t`It has no lines of it yet.`
            : t`Lines: ${all.join(', ')}`
          : t`This server needs tables of version ${expected}.`,
      ),
      steps:
        schema === expected
          ? []
          : [{ operation: 'state_migrate', why: t`Make the tables, as the owner of the database` }],
    };
  },
});

export const stateCheck = defineOperation({
  name: 'state_check',
  title: 'Check the database of a project',
  description:
    'Read all lines of this project in the database, and look at its version, its tables, the rights of its user and its clock.',
  effect: 'read',
  command: 'state check',
  input: z.strictObject({ project: projectField }),
  output: z.object({
    place: z.string(),
    looked: z.array(z.string()).describe('What was looked at'),
    problems: z.array(z.string()),
  }),
  run: (_input, context) =>
    using(context, undefined, async (database) => ({ place: database.shown, ...(await database.checked()) })),
  failed: ({ problems }) => problems.length > 0,
  render: ({ place, looked, problems }) => ({
    body: lines(
      problems.length === 0
        ? t`All is well with ${place}.`
        : t`${place} has ${plural(problems.length, 'problem')}.`,
      problems.map((problem) => `- ${say(problem)}`),
      looked.map((each) => `- ${say(each)}`),
    ),
  }),
});

export const stateMigrate = defineOperation({
  name: 'state_migrate',
  title: 'Make the tables of a database',
  description:
    'Make the tables that the lines of projects are kept in, or bring them up to date. It needs the owner of the database; servers need no more than the rights to rows, which --grant gives to their user.',
  effect: 'write',
  command: 'state migrate',
  examples: ['state migrate', 'state migrate --address postgres://owner@db/bmad --grant bmad_app'],
  input: z.strictObject({
    address: addressField,
    grant: textUpTo(63).optional().describe('The database user of the servers, who gets the rights to rows'),
    project: projectField,
  }),
  output: z.object({
    place: z.string(),
    before: z.int().describe('The version of the tables before, 0 for none'),
    after: z.int(),
    granted: z.string().optional(),
  }),
  run: ({ address, grant }, context) =>
    using(context, address, async (database) => ({
      place: database.shown,
      ...(await database.migrate(grant)),
      ...(grant === undefined ? {} : { granted: grant }),
    })),
  render: ({ place, before, after, granted }) => ({
    body: lines(
      before === after
        ? t`The tables in ${place} are of version ${after} already.`
        : t`The tables in ${place} are of version ${after} now.`,
      granted === undefined ? undefined : t`${granted} may read and write rows, and nothing else.`,
    ),
  }),
});

export const stateMove = defineOperation({
  name: 'state_move',
  title: 'Move the lines of a project',
  description:
    'Move the memories, tasks, runs and receipts of this project from its files into a database, or back into files: every line with its id, compared at the end, the source kept aside. A move that was cut continues where it stopped. Without apply, counts what would move.',
  effect: 'write',
  writes: ({ apply }) => apply,
  command: 'state move',
  examples: [
    'state move --to postgres://ada@db/bmad',
    'state move --to postgres://ada@db/bmad --apply',
    'state move --to files --apply',
  ],
  input: z.strictObject({
    to: textUpTo(2_000).describe('The address of a database, the path of a file that has it, or files'),
    apply: z.boolean().default(false).describe('Move it; without it, what would move is only counted'),
    project: projectField,
  }),
  output: z.object({
    applied: z.boolean(),
    from: z.string(),
    to: z.string(),
    lines: z.int(),
    known: z.int().describe('How many of them are there already'),
    texts: z.int().describe('Long texts of tasks'),
    digest: z.string().describe('Of the ids and contents of all lines'),
    aside: z.string().optional().describe('Where the source is kept'),
  }),
  async run({ to, apply }, context, call) {
    const state = await context.state();
    const moving = { isDryRun: !apply, tell: call.progress, signal: call.signal };
    const move = () => state.moveLines(to === 'files' ? undefined : to, moving);
    const done = await (apply ? state.whileMoving(move) : move());
    if (done === undefined) throw noDatabase();
    const { isDryRun, ...moved } = done;
    return { applied: !isDryRun, ...moved };
  },
  render: ({ applied, from, to, lines: count, known, texts, digest, aside }) => ({
    body: lines(
      applied
        ? t`${plural(count, 'line')} and ${plural(texts, 'text')} are now in ${to} (digest ${digest}).`
        : t`${plural(count, 'line')} and ${plural(texts, 'text')} would move from ${from} to ${to}.`,
      known === 0 ? undefined : t`${plural(known, 'line')} were there already.`,
      aside === undefined ? undefined : t`The source is kept ${say(aside)}.`,
    ),
    ...(applied
      ? {
          note:
            to === t`the files of the project`
              ? t`Take the setting state (BMAD_STATE) away now, on every machine.`
              : t`Set the address as state (BMAD_STATE) now, on every machine that uses the project.`,
        }
      : // The address is not repeated: it may have a password.
        { note: t`Add --apply to move it.` }),
  }),
});
