import * as z from 'zod';
import { present, sha256 } from '../../base/values.ts';
import { followers, type Happened, inOrder } from '../../lines/line.ts';
import type { Noun, Saying } from '../../lines/view.ts';
import {
  approvalSchema,
  FINAL_STATES,
  leaseSchema,
  resultSchema,
  TASK_VERSION,
  taskSchema,
  type Task,
} from '../../model/task.ts';

/**
 * What lines say about tasks. `create` and `moved` say what the task is, all others what was done to it. `moved` is what a
 * version before had in a file.
 */
type TaskVerb = 'create' | 'moved' | 'claim' | 'renew' | 'complete' | 'fail' | 'decide' | 'cancel' | 'remove';

/** Something that is said about a task, or about a name. */
export interface Said extends Saying {
  do: TaskVerb | 'take';
}

export const TASK_ID = /^task-[\w-]{1,80}$/;
const NAME = 'name/';
/** What an entity is called is shorter than that. */
const LONGEST_RUN = 80;

export const entityOf = (id: string): string => `task/${id}`;

/** The name of a result in a run, which one task has at a time. */
export function nameOf({ outputKey, runId = '' }: { outputKey: string; runId?: string | undefined }): string {
  const run = encodeURIComponent(runId);
  return `${NAME}${run.length > LONGEST_RUN ? sha256(runId) : run || '-'}/${outputKey}`;
}

type Other = NonNullable<Task['others']>[number];
type Change = { [K in keyof Task]?: Task[K] | undefined };

interface Now {
  task: Task;
  /** All that were ever given out: work that was done by two counts, whoever of them is first. */
  claims: Set<string>;
  /** The claim that holds it, and the line that ended it with a result. */
  holder: Happened | undefined;
  finished: Happened | undefined;
  /** Whether who wrote a line knew of another one. */
  sees: (event: Happened, earlier: Happened) => boolean;
}

const claim = z.string().max(100);
const renewSchema = z.looseObject({ claim, until: leaseSchema.shape.until });
const completeSchema = z.looseObject({
  claim,
  result: resultSchema.omit({ at: true }),
  status: z.enum(['completed', 'needs_verification']),
});
const failSchema = z.looseObject({ claim, error: z.string(), status: z.enum(['queued', 'failed']) });
const cancelSchema = z.looseObject({ error: z.string() });
const decideSchema = z.looseObject({
  status: z.enum(['needs_approval', 'queued', 'cancelled', 'completed', 'failed']),
  approval: approvalSchema,
  error: z.string().optional(),
});

/** A task from all lines about it, the same in whatever order they came; whether a lease is over is for the reader to say. */
export function taskOf(id: string, events: readonly Happened[]): Task | undefined {
  if (!TASK_ID.test(id)) return undefined;
  const ordered = inOrder(events);
  const sees = followers(ordered);
  const others: Other[] = [];
  let now: Now | undefined;
  for (const event of ordered) {
    if (event.do === 'remove') return undefined;
    const begun = begunBy(id, event, now?.task);
    if (begun !== undefined) {
      const claims = now?.claims ?? new Set();
      if (begun.lease !== undefined) claims.add(begun.lease.claim);
      const [holder, finished] = [begun.lease, begun.result].map((part) =>
        part === undefined ? part : event,
      );
      now = { task: begun, claims, holder, finished, sees };
      continue;
    }
    if (now === undefined) continue;
    const change = RULES[event.do]?.(now, event);
    if (change === undefined) others.push(...withoutEffect(event));
    else {
      const { updated_at: before } = now.task;
      // Clocks differ; the times of a task do not run backwards.
      const updated_at = event.at > before ? event.at : before;
      now.task = present<Task>({ ...now.task, ...change, updated_at });
    }
  }
  if (now === undefined) return undefined;
  return others.length === 0 ? now.task : { ...now.task, others };
}

/** The first that says what a task is holds; of two that were moved here, the one that knows more. */
function begunBy(id: string, { do: verb, data }: Happened, before: Task | undefined): Task | undefined {
  if (verb !== 'moved' && (verb !== 'create' || before !== undefined)) return undefined;
  const found = taskSchema.safeParse({ ...data, version: TASK_VERSION, task_id: id }).data;
  return before === undefined || (found !== undefined && found.updated_at > before.updated_at)
    ? found
    : undefined;
}

const RULES: Readonly<Record<string, (now: Now, event: Happened) => Change | undefined>> = {
  claim(now, event) {
    const lease = leaseSchema.safeParse(event.data).data;
    const { task, holder, sees } = now;
    if (lease === undefined || FINAL_STATES.includes(task.status)) return undefined;
    now.claims.add(lease.claim);
    // Who knew of the one before has judged that its lease was over.
    const isFree = task.status !== 'running' || holder === undefined || sees(event, holder);
    if (!isFree || task.status === 'needs_verification') return undefined;
    now.holder = event;
    return { status: 'running', attempts: task.attempts + 1, lease };
  },
  renew({ task }, { data }) {
    const said = renewSchema.safeParse(data).data;
    const { lease } = task;
    if (said === undefined || lease?.claim !== said.claim) return undefined;
    return { lease: { ...lease, until: said.until } };
  },
  complete(now, event) {
    const { data, at } = event;
    const { task, claims } = now;
    const said = completeSchema.safeParse(data).data;
    const isOpen = ['running', 'queued', 'failed'].includes(task.status) && task.result === undefined;
    if (said === undefined || !isOpen || !claims.has(said.claim)) return undefined;
    now.finished = event;
    return {
      status: said.status,
      result: { ...said.result, at },
      lease: undefined,
      ...(task.status === 'failed' ? { error: undefined } : {}),
    };
  },
  fail({ task }, { data }) {
    const said = failSchema.safeParse(data).data;
    if (said === undefined || task.status !== 'running' || task.lease?.claim !== said.claim) return undefined;
    return { status: said.status, error: said.error, lease: undefined };
  },
  cancel({ task }, { data }) {
    const said = cancelSchema.safeParse(data).data;
    if (said === undefined || FINAL_STATES.includes(task.status)) return undefined;
    return { status: 'cancelled', error: said.error, lease: undefined };
  },
  decide({ task, holder, finished, sees }, event) {
    const said = decideSchema.safeParse(event.data).data;
    const isOver = task.status === 'cancelled' || task.status === 'failed';
    if (said === undefined || isOver) return undefined;
    const { status, approval, error } = said;
    const begins = status === 'queued' || status === 'cancelled' || status === 'needs_approval';
    // Who decides on the beginning and does not know that it was begun, or is done, comes too late.
    const last = task.result === undefined ? (task.status === 'running' ? holder : undefined) : finished;
    const isKnown = last === undefined || sees(event, last);
    if (!isKnown || (task.result === undefined && !begins)) return undefined;
    return {
      status,
      approval,
      ...present({ error }),
      ...(begins ? { lease: undefined, result: undefined } : {}),
    };
  },
};

/** Of what came too late, people want to see who else has worked on it. */
function withoutEffect({ do: did, at, data }: Happened): Other[] {
  if (did === 'claim') {
    const lease = leaseSchema.safeParse(data).data;
    return lease === undefined ? [] : [{ did, by: lease.worker, at }];
  }
  const result = did === 'complete' ? completeSchema.safeParse(data).data?.result : undefined;
  return result === undefined ? [] : [{ did, by: result.by, at, file: result.file }];
}

/** Tasks among all that lines are about. */
export const TASKS: Noun<Task> = {
  noun: 'task',
  fold: taskOf,
  isOver: ({ status }) => FINAL_STATES.includes(status),
};
