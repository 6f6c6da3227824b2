import { plural, say, t } from '../../base/text/message.ts';
import * as z from 'zod';
import { present } from '../../base/present.ts';
import { oneLine } from '../../base/text/text.ts';
import { RUN_STATUSES, type RunBranch } from '../../model/run.ts';
import { STANDINGS, standingOf, standingWords } from './branch-standing.ts';
import { lines } from '../answer-text.ts';
import { whereField } from '../fields.ts';
import { defineOperation } from '../operation.ts';
import { latestRun, openRun } from './run-view.ts';

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
  description: 'The session branches of the project, and the runs that are open in each.',
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
  async run({ status: given, project }, context) {
    const status = given ?? 'all';
    const runs = await (await context.state(project)).runs();
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
