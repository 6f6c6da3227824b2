import * as z from 'zod';
import { present } from '../../base/values.ts';
import { plural, say, t } from '../../base/text/message.ts';
import { oneLine } from '../../base/text/text.ts';
import { RUN_STATUSES, type RunBranch } from '../../model/run.ts';
import { projectField, whereField, textUpTo } from '../fields.ts';
import { lines, titledList } from '../answer-text.ts';
import { defineOperation } from '../operation.ts';
import { branchField, latestRun, openRun, standingOf, STANDINGS, standingWords } from './run-view.ts';

const FILTERS = ['all', ...STANDINGS] as const;

const sessionSchema = z.object({
  name: z.string(),
  /** What became of it: the filter asks for this. */
  standing: z.enum(STANDINGS),
  /** What the branch says about itself. */
  status: z.string(),
  current: z.boolean(),
  archive: z.string().optional(),
  purpose: z.string().optional(),
  created_at: z.string().optional(),
  created_by: z.string().optional(),
  parent: z.string().optional(),
  runs: z.record(z.enum(['total', ...RUN_STATUSES]), z.int()),
  /** How many of them are older than those that were read. */
  older: z.int(),
  latest_run: z.object({ run_id: z.string(), status: z.string() }).optional(),
  problems: z.array(z.string()),
});

export const listSessions = defineOperation({
  name: 'list_sessions',
  title: 'Session branches',
  description: 'See which session branches the project has, and the runs that are open in each.',
  effect: 'read',
  toolset: 'project',
  command: 'session list',
  examples: ['session list', 'session list --status active'],
  input: z.strictObject({
    status: z.enum(FILTERS).optional().describe('Default: all, the latest runs of each'),
    project: whereField,
  }),
  output: z.object({
    current: z.string(),
    current_from: z.string(),
    sessions: z.array(sessionSchema),
    /** How many there are of each standing, whatever was asked for. */
    counts: z.record(z.enum(STANDINGS), z.int()),
    asked: z.enum(FILTERS),
    problems: z.array(z.string()),
  }),
  async run({ status: given }, context) {
    const status = given ?? 'all';
    const runs = await (await context.state()).runs();
    const { branches, current, currentFrom, problems } = await (given === undefined
      ? runs.lately()
      : runs.read());
    return {
      current,
      current_from: currentFrom,
      sessions: branches
        .filter((branch) => status === 'all' || standingOf(branch) === status)
        .map((branch) => sessionData(branch, current)),
      counts: Object.fromEntries(
        STANDINGS.map((each) => [each, branches.filter((branch) => standingOf(branch) === each).length]),
      ) as Counts,
      asked: status,
      problems: [...problems],
    };
  },
  render: ({ current, current_from: from, sessions, counts, asked, problems }) => ({
    body: lines(
      t`Current session branch: ${current} (${from})`,
      sessions.length === 0 ? noneText(asked, counts) : sessions.map(sessionText),
      problems.map((problem) => t`Problem: ${problem}`),
    ),
    steps:
      sessions.length > 0 || STANDINGS.some((each) => counts[each] > 0)
        ? []
        : [
            openRun(undefined, t`Open a run, the first one in "main"`),
            { operation: 'session_create', open: ['name'], why: t`Create a session branch` },
          ],
  }),
});

type Counts = Record<(typeof STANDINGS)[number], number>;

function noneText(asked: (typeof FILTERS)[number], counts: Counts): string {
  const others = STANDINGS.filter((each) => counts[each] > 0).map((each) => `${counts[each]} ${say(each)}`);
  if (others.length === 0) return t`There are no session branches yet.`;
  return asked === 'failed'
    ? t`No session branch has failed; there are others: ${others.join(', ')}.`
    : t`No session branch is ${say(asked)}; there are others: ${others.join(', ')}.`;
}

function sessionData(branch: RunBranch, current: string): z.output<typeof sessionSchema> {
  const count = (status: string): number => branch.runs.filter((run) => run.status === status).length;
  const latest = latestRun(branch);
  const counts = Object.fromEntries(RUN_STATUSES.map((status) => [status, count(status)]));
  const broken = branch.runs.filter(({ problems }) => problems.length > 0);
  return {
    name: branch.name,
    standing: standingOf(branch),
    status: branch.status,
    current: branch.archive === undefined && branch.name === current,
    ...present<Record<string, string>>({
      archive: branch.archive,
      purpose: branch.purpose,
      created_at: branch.createdAt,
      created_by: branch.createdBy,
      parent: branch.parent,
    }),
    runs: { total: branch.runs.length + branch.older, ...counts } as z.output<typeof sessionSchema>['runs'],
    older: branch.older,
    ...(latest === undefined ? {} : { latest_run: { run_id: latest.id, status: latest.status } }),
    problems: [
      ...branch.problems,
      ...broken.map(
        ({ id, problems }) =>
          t`${id}: ${problems[0] ?? ''}${problems.length > 1 ? t` (and ${problems.length - 1} more)` : ''}`,
      ),
    ],
  };
}

function sessionText(session: z.output<typeof sessionSchema>): string {
  const { name, archive, current, purpose, created_at: created, runs, latest_run: latest } = session;
  const counts = [
    ...RUN_STATUSES.filter((each) => runs[each] > 0).map((each) => `${runs[each]} ${say(each)}`),
    ...(session.older === 0 ? [] : [t`${session.older} older`]),
  ];
  const about = [
    standingWords(session.standing, session.status),
    archive === undefined ? undefined : t`archived copy of ${name}`,
    created === undefined ? undefined : t`since ${created.slice(0, 10)}`,
    `${plural(runs.total, 'run')}${counts.length === 0 ? '' : ` (${counts.join(', ')})`}`,
    latest === undefined ? undefined : t`latest ${latest.run_id} (${say(latest.status)})`,
  ].filter((part) => part !== undefined);
  return lines(
    t`- ${archive ?? name}${current ? t` (current)` : ''}: ${about.join(', ')}`,
    purpose === undefined ? undefined : `  ${oneLine(purpose, 160)}`,
    session.problems.map((problem) => t`  Problem: ${problem}`),
  );
}

const nameField = branchField.describe('Name of the branch: letters, digits, "-" and "_"');

export const sessionCreate = defineOperation({
  name: 'session_create',
  title: 'Create a session branch',
  description: 'Create a session branch that keeps its runs separate. It does not become the current one.',
  effect: 'write',
  behind: { manage_project: 'session_create' },
  command: 'session create',
  positional: ['name'],
  input: z.strictObject({
    name: nameField,
    purpose: textUpTo(1_000).optional().describe('What it is for'),
    parent: branchField.optional().describe('The branch it starts from; default: the current one'),
    project: projectField,
  }),
  output: z.object({ branch: z.string(), folder: z.string() }),
  async run({ name, purpose, parent }, context) {
    const runs = await (await context.state()).runs();
    return runs.createBranch(name, { purpose, parent });
  },
  render: ({ branch, folder }) => ({
    body: t`Created ${branch} in ${folder}.`,
    steps: [
      { operation: 'session_switch', args: { name: branch }, why: t`Make it the current session branch` },
    ],
  }),
});

export const sessionSwitch = defineOperation({
  name: 'session_switch',
  title: 'Switch to a session branch',
  description: 'Make a session branch the current one, which is used when none is named.',
  effect: 'write',
  behind: { manage_project: 'session_switch' },
  command: 'session switch',
  picks: { name: 'session' },
  positional: ['name'],
  input: z.strictObject({ name: nameField, project: projectField }),
  output: z.object({ branch: z.string(), before: z.string(), file: z.string() }),
  async run({ name }, context) {
    return (await (await context.state()).runs()).switchBranch(name);
  },
  render: ({ branch, before, file }) => ({
    body:
      before === branch
        ? t`The current session branch is ${branch}, as before (${file}).`
        : t`The current session branch is ${branch}; it was ${before} (${file}).`,
  }),
});

export const sessionDiff = defineOperation({
  name: 'session_diff',
  title: 'Compare two session branches',
  description:
    'Files that exist in only one of two session branches, and files that differ. Name archived branches by their folder.',
  effect: 'read',
  behind: { manage_project: 'session_diff' },
  command: 'session diff',
  picks: { name: 'session' },
  positional: ['name', 'against'],
  input: z.strictObject({
    name: branchField.describe('Name of the branch'),
    against: branchField.default('main').describe('The other branch'),
    project: projectField,
  }),
  output: z.object({
    branch: z.string(),
    against: z.string(),
    only_here: z.array(z.string()),
    only_there: z.array(z.string()),
    different: z.array(z.string()),
  }),
  async run({ name, against }, context) {
    const diff = await (await (await context.state()).runs()).diff(name, against);
    return {
      branch: name,
      against,
      only_here: diff.onlyHere,
      only_there: diff.onlyThere,
      different: diff.different,
    };
  },
  render: ({ branch, against, only_here: here, only_there: there, different }) => ({
    body:
      here.length + there.length + different.length === 0
        ? t`${branch} and ${against} have the same content.`
        : lines(
            listed(t`Only in ${branch}`, here),
            listed(t`Only in ${against}`, there),
            listed(t`In both, and different`, different),
          ),
  }),
});

const listed = (title: string, paths: readonly string[]): string[] => titledList(title, paths, 200);

export const sessionMerge = defineOperation({
  name: 'session_merge',
  title: 'Merge a session branch',
  description:
    'Copy the runs of a session branch into another. Nothing there is overwritten: a run that differs gets a new name.',
  effect: 'write',
  behind: { manage_project: 'session_merge' },
  command: 'session merge',
  picks: { name: 'session' },
  positional: ['name', 'into'],
  input: z.strictObject({
    name: nameField,
    into: branchField.default('main').describe('The branch that receives them'),
    force: z.boolean().default(false).describe('Include unfinished runs; they are moved, not copied'),
    project: projectField,
  }),
  output: z.object({
    branch: z.string(),
    into: z.string(),
    copied: z.array(z.string()),
    moved: z.array(z.string()),
    renamed: z.array(z.object({ from: z.string(), to: z.string() })),
    already: z.array(z.string()),
    files: z.array(z.string()),
    left: z.array(z.string()),
    notes: z.array(z.string()),
  }),
  async run({ name, into, force }, context) {
    return (await (await context.state()).runs()).merge(name, into, force);
  },
  render: ({ branch, into, copied, moved, renamed, already, files, left, notes }) => ({
    body: lines(
      merged(
        branch,
        into,
        copied.length + renamed.filter(({ to }) => !moved.includes(to)).length,
        moved.length,
      ),
      listed(t`Copied`, copied),
      listed(
        t`Renamed, because the branch has a different run with that name`,
        renamed.map(({ from, to }) => t`${from} is now ${to}`),
      ),
      listed(t`Already there`, already),
      listed(t`Other files copied`, files),
      listed(t`Not copied, because the branch has a different file with that name or it is a link`, left),
      notes,
    ),
  }),
});

function merged(branch: string, into: string, copied: number, moved: number): string {
  const also = moved === 0 ? '' : `, ${plural(moved, 'run moved', 'runs moved')}`;
  return t`Merged ${branch} into ${into}: ${plural(copied, 'run copied', 'runs copied')}${also}.`;
}

export const sessionArchive = defineOperation({
  name: 'session_archive',
  title: 'Archive a session branch',
  description:
    'Move a session branch to the archive, where its runs can still be read. "main" cannot be archived.',
  effect: 'write',
  behind: { manage_project: 'session_archive' },
  command: 'session archive',
  picks: { name: 'session' },
  removes: { question: 'Archive this session branch?', about: 'name' },
  positional: ['name'],
  input: z.strictObject({
    name: nameField,
    force: z.boolean().default(false).describe('Even with unfinished runs'),
    project: projectField,
  }),
  output: z.object({ branch: z.string(), folder: z.string(), notes: z.array(z.string()) }),
  async run({ name, force }, context) {
    return (await (await context.state()).runs()).archive(name, force);
  },
  render: ({ branch, folder, notes }) => ({ body: lines(t`Archived ${branch} in ${folder}.`, notes) }),
});
