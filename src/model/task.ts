import * as z from 'zod';

/**
 * A piece of work for a sub-agent, kept on disk until it is done. The field names are those of the kit's orchestration
 * steps, so that its files and ours use the same words.
 */
export const TASK_STATES = [
  'needs_approval',
  'queued',
  'running',
  'needs_verification',
  'completed',
  'failed',
  'cancelled',
] as const;
export type TaskState = (typeof TASK_STATES)[number];

/** States from which nothing follows any more. */
export const FINAL_STATES: readonly TaskState[] = ['completed', 'failed', 'cancelled'];

const moment = z.string().max(40);

/** The version that tasks have had since they were files. */
export const TASK_VERSION = 1;

/** The longest that a worker may have a task without a word. */
export const LONGEST_LEASE_MINUTES = 24 * 60;

/** Who works on a task, until when no one else may, and the word that proves it. */
export const leaseSchema = z.looseObject({
  worker: z.string().max(200),
  claim: z.string().max(100),
  until: moment,
});

export const approvalSchema = z.looseObject({
  reason: z.string().max(2_000),
  by: z.string().max(200).optional(),
  at: moment.optional(),
  /** What the person said. The file tells other machines; what counts on this one is in the user's state. */
  agreed: z.boolean().optional(),
});

/** Who asked for a task that comes from outside the project, in the words of the protocol it came by. */
const outsideSchema = z.looseObject({
  protocol: z.string().max(20),
  context_id: z.string().max(200),
  message_id: z.string().max(200),
  /** Stands for the caller who sent it, where callers are known: it belongs to them. */
  requester: z.string().max(100).optional(),
});

export const resultSchema = z.looseObject({
  /** Path of the text, relative to the folder of the tasks: results may be long. */
  file: z.string().max(300),
  bytes: z.int(),
  digest: z.string().max(100),
  by: z.string().max(200),
  at: moment,
  /** Handed in over HTTP: who `by` names is then what the caller said. */
  over_http: z.boolean().optional(),
});

/** Unknown keys stay: other versions and other tools may have put them there. */
export const taskSchema = z.looseObject({
  version: z.literal(TASK_VERSION),
  task_id: z.string().max(100),
  agent: z.string().max(200),
  task: z.string(),
  output_key: z.string().max(100),
  context_files: z.array(z.string()),
  /** Of each of these files as it was when the task was queued, by path; files of earlier versions have none. */
  context_digests: z.record(z.string(), z.string().max(100)).optional(),
  /** Of the brief that lies beside it; files of earlier versions have none. */
  brief_digest: z.string().max(100).optional(),
  depends_on: z.array(z.string()),
  run_id: z.string().max(200).optional(),
  branch: z.string().max(200).optional(),
  status: z.enum(TASK_STATES),
  created_at: moment,
  updated_at: moment,
  created_by: z.string().max(200),
  attempts: z.int(),
  outside: outsideSchema.optional(),
  lease: leaseSchema.optional(),
  approval: approvalSchema.optional(),
  result: resultSchema.optional(),
  error: z.string().optional(),
  /** What others did without knowing of each other: it is shown, and changes nothing. */
  others: z
    .array(
      z.looseObject({
        did: z.string().max(20),
        by: z.string().max(200),
        at: moment,
        file: z.string().max(300).optional(),
      }),
    )
    .optional(),
});
export type Task = z.output<typeof taskSchema>;

/** Differs whenever a task does: also when a lease ran out, which no file tells. */
export function markOf({ updated_at, status, attempts }: Task): string {
  return `${updated_at} ${status} ${attempts}`;
}

export const MERGE_STRATEGIES = ['concat', 'structured', 'first-wins', 'vote', 'summarize'] as const;
export type MergeStrategy = (typeof MERGE_STRATEGIES)[number];
