import * as z from 'zod';
import { ours } from '../../base/errors.ts';
import { say, t } from '../../base/text/message.ts';
import { compare, localTime, oneLine } from '../../base/text/text.ts';
import { present } from '../../base/values.ts';
import type { Task } from '../../model/task.ts';
import type { Call, Context, ProjectState } from '../context.ts';
import { projectField } from '../fields.ts';
import { defineOperation } from '../operation.ts';
import { openRuns, workflowOf } from '../runs/run-view.ts';

const MOST_EVENTS = 100;
const MOST_RUNS = 12;
const MOST_MEMORIES = 100;
const MOST_LINES = 1_000;
const LONGEST = 300;

const eventSchema = z.object({
  at: z.string(),
  kind: z.enum(['decision', 'task', 'run', 'proof', 'memory']),
  /** What has happened, in our words. */
  what: z.string(),
  /** What it happened to, in its own. */
  about: z.string(),
  /** The agent, or the person who has decided. */
  by: z.string().optional(),
  bad: z.boolean().optional(),
  /** Of a decision: whether it was a yes. */
  yes: z.boolean().optional(),
  /** The id of what it was about. */
  id: z.string(),
});
type Event = z.output<typeof eventSchema>;

const workSchema = z.object({
  kind: z.enum(['run', 'task']),
  id: z.string(),
  /** The workflow, or what the task asks for. */
  title: z.string(),
  agent: z.string().optional(),
  /** Whether somebody is at it; the others wait, for what `why` says. */
  now: z.boolean(),
  why: z.string().optional(),
  /** Whether only a person lets it go on. */
  person: z.boolean().optional(),
  at: z.string().optional(),
  note: z.string().optional(),
  story: z.string().optional(),
  done: z.int().optional(),
  total: z.int().optional(),
  /** What its steps are called, where its workflow has them in files. */
  steps: z.array(z.string()).optional(),
});
type Work = z.output<typeof workSchema>;

export const activity = defineOperation({
  name: 'activity',
  title: 'What happens in the project',
  description:
    'Who works on what, what is pending, and what has happened since a time: decisions of people, tasks, runs, verdicts and memories as one list, the newest first.',
  effect: 'read',
  command: 'activity',
  forPeople: true,
  examples: ['activity'],
  input: z.strictObject({
    since: z.string().min(10).max(40).optional().describe('A date or a time in ISO 8601; default: today'),
    project: projectField,
  }),
  output: z.object({
    since: z.string(),
    work: z.array(workSchema),
    events: z.array(eventSchema),
    /** What could not be read. */
    unread: z.array(z.string()),
  }),
  async run({ since: asked }, context, call) {
    const since = timeOf(asked);
    const state = await context.state();
    const unread: string[] = [];
    const part = <T>(read: Promise<T>, otherwise: T): Promise<T> =>
      read.catch(
        ours((error) => {
          unread.push(error.message);
          return otherwise;
        }),
      );
    const { queue } = await state.tasks();
    const { tasks } = await part(queue.all(), { tasks: [], problems: [] });
    const [runs, ...others] = await Promise.all([
      part(runsOf(state, context, call), { work: [], events: [] }),
      part(decisionsOf(state, context, tasks, since), []),
      part(verdictsOf(state), []),
      part(memoriesOf(context), []),
    ]);
    const events = [...runs.events, ...others.flat(), ...tasks.flatMap(taskEvents)];
    return {
      since,
      work: [...runs.work, ...tasks.flatMap((task) => taskWork(task, tasks))].sort(
        (a, b) => Number(b.now) - Number(a.now) || compare(b.at ?? '', a.at ?? ''),
      ),
      events: events
        .filter(({ at }) => at >= since)
        .sort((a, b) => compare(b.at, a.at))
        .slice(0, MOST_EVENTS),
      unread: [...new Set(unread)],
    };
  },
  render: ({ work, events }) => ({
    asStored: true,
    body: [
      ...work.map(({ now, agent, title, why }) =>
        now
          ? t`- at work: ${agent === undefined || agent === '' ? '' : `${agent}: `}${oneLine(title, 120)}`
          : t`- waits: ${oneLine(title, 120)}${why === undefined ? '' : ` (${why})`}`,
      ),
      ...events.map(({ at, what, about }) => `- ${whenHere(at)} ${what}: ${oneLine(about, 120)}`),
      ...(work.length + events.length === 0 ? [t`Nothing has happened, and no one is at work.`] : []),
    ].join('\n'),
  }),
});

/** The hour where the reader is; of another day with its date. */
function whenHere(at: string): string {
  const [day = '', time = ''] = localTime(new Date(at)).slice(0, 16).split('T');
  return localTime(new Date()).startsWith(day) ? time : `${day} ${time}`;
}

/** The beginning of the day here, where no time is asked for that can be understood. */
function timeOf(asked: string | undefined): string {
  const time = Date.parse(asked ?? '');
  return new Date(Number.isNaN(time) ? new Date().setHours(0, 0, 0, 0) : time).toISOString();
}

const titled = ({ task }: Pick<Task, 'task'>): string => oneLine(task, LONGEST);

function taskEvents(task: Task): Event[] {
  const { task_id: id, agent, created_at, result, error, status, updated_at } = task;
  const one = (at: string, what: string, by = agent, bad = false): Event => ({
    at,
    kind: 'task',
    what,
    about: titled(task),
    by,
    id,
    ...(bad ? { bad } : {}),
  });
  return [
    one(created_at, t`Task queued`),
    ...(result === undefined ? [] : [one(result.at, t`Result handed in`, result.by)]),
    ...(status === 'failed' && error !== undefined ? [one(updated_at, t`Task failed`, agent, true)] : []),
  ];
}

function taskWork(task: Task, all: readonly Task[]): Work[] {
  const { task_id: id, agent, status, lease, depends_on, updated_at, approval } = task;
  const base = { kind: 'task' as const, id, title: titled(task), agent, at: updated_at };
  if (status === 'running')
    return [{ ...base, now: true, ...present({ note: lease && t`claimed by ${lease.worker}` }) }];
  if (status === 'queued') return [{ ...base, now: false, ...waitsFor(depends_on, all) }];
  if (status !== 'needs_approval' && status !== 'needs_verification') return [];
  return [{ ...base, now: false, person: true, ...present({ why: approval && say(approval.reason) }) }];
}

/** A task that has ended holds nobody. */
function waitsFor(keys: readonly string[], all: readonly Task[]): { why?: string } {
  const open = keys.filter(
    (key) => !all.some(({ output_key, status }) => output_key === key && status === 'completed'),
  );
  return open.length === 0 ? {} : { why: t`waits for ${open.join(', ')}` };
}

async function runsOf(state: ProjectState, context: Context, { signal }: Call) {
  const runs = await state.runs();
  const reading = await runs.lately();
  const { createJudge, workOfRun } = await import('../runs/run-standing.ts');
  const { stepFilesOf } = await import('../runs/run-steps.ts');
  const judge = await createJudge(state, reading, { context, signal });
  const open = openRuns(reading);
  const { going } = await judge.sorted(open);
  const work: Work[] = [];
  for (const { run, data } of going) {
    const [{ story }, files] = [await workOfRun(run, state), await stepFilesOf(run, state.root, context)];
    const { progress, agent, agent_notes: note, last_checkpoint: at } = data;
    const isOn = data.status === 'running';
    work.push({
      kind: 'run',
      id: run.id,
      title: data.served ?? workflowOf(run) ?? run.id,
      now: isOn,
      done: progress.completed,
      ...present({ agent, story, note, at, total: progress.total, steps: files?.names }),
      ...(isOn ? {} : { why: say(data.status) }),
    });
  }
  const latest = reading.branches
    .flatMap((branch) => branch.runs)
    .sort((a, b) => b.latest - a.latest)
    .slice(0, MOST_RUNS);
  const events = await Promise.all(
    latest.map(async (run): Promise<Event[]> => {
      const about = workflowOf(run) ?? run.id;
      return (await runs.journal(run)).map(({ at, event, step, told, notes, agent }) => ({
        at,
        kind: 'run',
        what: step === undefined ? RUN_WORDS[event]() : t`Step ${told ?? step} done`,
        about: notes === undefined || notes === '' ? about : `${about}: ${oneLine(notes, LONGEST)}`,
        id: run.id,
        ...present({ by: agent ?? run.state?.agent }),
      }));
    }),
  );
  return { work, events: events.flat() };
}

const RUN_WORDS = {
  opened: () => t`Run begun`,
  adopted: () => t`Run taken over`,
  checkpoint: () => t`Checkpoint`,
  finished: () => t`Run ended`,
};

async function verdictsOf(state: ProjectState): Promise<Event[]> {
  const { intact } = await (await state.completion()).receipts(MOST_EVENTS);
  return intact.map(({ id, status, ended, reason }) => ({
    at: ended,
    kind: 'proof',
    what:
      status === 'PASS' ? t`Contract passed` : status === 'FAIL' ? t`Contract failed` : t`Nothing verified`,
    about: say(reason),
    id,
    ...(status === 'PASS' ? {} : { bad: true }),
  }));
}

async function memoriesOf(context: Context): Promise<Event[]> {
  const memory = await context.memory(false);
  const { entries } = await memory.list({ all: true, stored: true }, { limit: MOST_MEMORIES });
  return entries.flatMap(({ id, text, agent, type, createdAt, supersededAt, forgottenAt }) => {
    const about = oneLine(text, LONGEST);
    const kind = 'memory' as const;
    return [
      {
        at: createdAt,
        kind,
        what: type === 'decisions' ? t`Decision remembered` : t`Remembered`,
        about,
        id,
        by: agent,
      },
      ...(supersededAt === undefined ? [] : [{ at: supersededAt, kind, what: t`Replaced`, about, id }]),
      ...(forgottenAt === undefined ? [] : [{ at: forgottenAt, kind, what: t`Forgotten`, about, id }]),
    ];
  });
}

/** What people do that has no record of its own: the audit has it, where a server keeps one. */
const AUDITED: Readonly<Record<string, () => string>> = {
  reconcile_ledgers: () => t`Ledgers written`,
  story_status: () => t`Story moved`,
  complete_handoff: () => t`Hand-off closed`,
  run_finish: () => t`Run closed`,
};

async function decisionsOf(
  state: ProjectState,
  context: Context,
  tasks: readonly Task[],
  since: string,
): Promise<Event[]> {
  const { root } = state;
  const book = await state.decisions();
  const byId = new Map(tasks.map((task) => [task.task_id, task]));
  const [agreed, deliveries, programs] = await Promise.all(
    (['task', 'delivery', 'programs'] as const).map((kind) => book.all(kind)),
  );
  const decided = [agreed, deliveries, programs].flatMap((all) => [...(all?.values() ?? [])]);
  const events = decided
    .filter(({ via }) => via !== 'maker')
    .map(({ kind, id, yes, by, at }): Event => {
      const task = byId.get(id.replace(/\.result$/, ''));
      const about = kind === 'programs' ? t`Programs of this project` : id;
      const what = yes ? (kind === 'delivery' ? t`Accepted` : t`Approved`) : t`Refused`;
      return { at, kind: 'decision', what, about: task === undefined ? about : titled(task), by, yes, id };
    });
  const { lines } = await (await context.audit()).read({ since: Date.parse(since), limit: MOST_LINES });
  const done = lines.flatMap(({ at, by, operation, project, outcome, target }): Event[] => {
    const what = AUDITED[operation];
    if (what === undefined || by.kind !== 'person' || outcome !== 'ok' || project !== root) return [];
    return [
      { at, kind: 'decision', what: what(), about: target ?? '', by: by.name, yes: true, id: target ?? '' },
    ];
  });
  return [...events, ...done];
}
