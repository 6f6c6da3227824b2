import * as z from 'zod';
import { textUpTo } from '../fields.ts';
import { shortDigest, present } from '../../base/values.ts';
import type { Step } from '../../base/step.ts';
import { hiddenIn } from '../../base/text/hidden.ts';
import { plural, say, t } from '../../base/text/message.ts';
import { byteLength, fenced, oneLine } from '../../base/text/text.ts';
import { LONGEST_LEASE_MINUTES, type Task, TASK_STATES } from '../../model/task.ts';
import type { Context } from '../context.ts';

/** Fields and words that the operations about tasks share. */

export const taskIdField = textUpTo(100).describe('Exact id of the task');
export const claimField = textUpTo(100).describe('The claim that came with the task');
const OUTPUT_KEY = /^(?!__proto__$)[A-Za-z_][\w-]*$/;
export const outputKeyField = textUpTo(80).regex(
  OUTPUT_KEY,
  'Letters, digits, "_" and "-", starting with a letter or "_".',
);
export const leaseField = z
  .int()
  .min(1)
  .max(LONGEST_LEASE_MINUTES)
  .default(30)
  .describe('Minutes until the task is free again, unless renewed');

export const taskView = z.object({
  task_id: z.string(),
  status: z.enum(TASK_STATES),
  agent: z.string(),
  output_key: z.string(),
  task: z.string(),
  run_id: z.string().optional(),
  depends_on: z.array(z.string()),
  attempts: z.int(),
  worker: z.string().optional().describe('Who works or worked on it'),
  until: z.string().optional(),
  over_http: z.boolean().optional().describe('The result came over HTTP, where workers name themselves'),
  created_at: z.string(),
  updated_at: z.string(),
  error: z.string().optional(),
  approval: z.string().optional(),
  others: z
    .array(z.object({ did: z.string(), by: z.string(), at: z.string() }))
    .optional()
    .describe('Claims and results of others that came too late to count'),
  from: z.string().optional().describe('The protocol of the request, if it came from outside'),
});
export type TaskView = z.output<typeof taskView>;

/** A task without the word that proves who holds it: that is for the holder only. */
export function viewOf(task: Task): TaskView {
  const { task_id, status, agent, output_key, run_id, depends_on, attempts, lease, error, approval, result } =
    task;
  return {
    task_id,
    status,
    agent,
    output_key,
    task: task.task,
    ...present({ run_id }),
    depends_on,
    attempts,
    ...(result === undefined ? {} : { worker: result.by }),
    ...(result?.over_http === true ? { over_http: true } : {}),
    ...(lease === undefined ? {} : { worker: lease.worker, until: lease.until }),
    created_at: task.created_at,
    updated_at: task.updated_at,
    ...(error === undefined ? {} : { error: shownError(error) }),
    ...(task.others === undefined ? {} : { others: task.others.map(({ did, by, at }) => ({ did, by, at })) }),
    ...(task.outside === undefined ? {} : { from: task.outside.protocol }),
    approval:
      approval &&
      `${say(approval.reason)}${approval.by === undefined ? '' : t` (decided by ${approval.by})`}`,
  };
}

/** Why a task ended: what is kept with it is plain, and what we said ourselves is shown in the language of who reads it. */
function shownError(error: string): string {
  const by = /^refused by (.+)$/s.exec(error)?.[1];
  return by === undefined ? say(error) : t`refused by ${by}`;
}

/** What only a person may do. Without a digest the command shows what there is to approve. */
export function approving(task_id: string, why: string): Step {
  return { operation: 'task_approve', args: { task_id }, why };
}

/** The same for exactly the text that was shown. */
export function approvingThis(task_id: string, digest: string): Step {
  return { operation: 'task_approve', args: { task_id, digest }, why: t`Approve exactly this` };
}

/** `task-… queued  architect → api_review: Review the API`. */
export function taskLine(task: TaskView): string {
  const after = task.depends_on.length === 0 ? '' : t` after ${task.depends_on.join(', ')}`;
  const until = task.until === undefined ? '' : t` until ${task.until.slice(0, 16)}`;
  const how = task.over_http === true ? t`, handed in over HTTP` : '';
  const holder = task.worker === undefined ? '' : t` by ${oneLine(task.worker, 200)}${until}${how}`;
  const asked = task.status === 'needs_approval' ? ` (${oneLine(task.approval ?? '', 200)})` : '';
  const why = task.error === undefined ? asked : ` (${oneLine(task.error, 100)})`;
  const late = (task.others ?? []).filter(({ did }) => did === 'complete');
  const also =
    late.length === 0 ? '' : t` (also done by ${late.map(({ by }) => oneLine(by, 50)).join(', ')})`;
  const from = task.from === undefined ? '' : t` (from outside, by ${task.from})`;
  return t`- ${task.task_id} ${say(task.status)}${holder}${also}${from}: ${task.agent} → ${task.output_key}${after}: ${oneLine(task.task, 120)}${why}`;
}

const textSchema = z.object({
  name: z.enum(['task', 'brief', 'result']),
  text: z.string(),
  characters: z.int(),
  bytes: z.int(),
  sha256: z.string().describe('The first 16 digits'),
  hidden: z.int().describe('How many characters of it are invisible or steer a terminal'),
});

/** What a person decides on, as it is stored. */
export const decidedSchema = z.object({
  digest: z.string().describe('Stands for all of it; approving takes it'),
  texts: z.array(textSchema),
});
type Decided = z.output<typeof decidedSchema>;

export function textsOf(
  task: Task,
  { brief, result, digest }: { brief: string; result?: string; digest: string },
): Decided {
  const texts = [
    ['task', task.task],
    ['brief', brief],
    ['result', result],
  ] as const;
  return {
    digest,
    texts: texts.flatMap(([name, text]) =>
      text === undefined
        ? []
        : [
            {
              name,
              text,
              characters: Array.from(text).length,
              bytes: byteLength(text),
              sha256: shortDigest(text),
              hidden: hiddenIn(text).length,
            },
          ],
    ),
  };
}

const TITLES = { task: 'Task', brief: 'Brief for the worker', result: 'Result' } as const;

/** All of it, whole, with what tells one text from another that looks the same. */
export function decidedText(task: TaskView, { texts, digest }: Decided): string {
  return [
    taskLine(task),
    ...texts.map(
      (one) =>
        `## ${say(TITLES[one.name])}\n\n${measure(one)}\n\n${fenced(one.text, one.name === 'brief' ? 'markdown' : '')}`,
    ),
    t`Digest of all of this: ${digest}`,
  ].join('\n\n');
}

function measure({ characters, bytes, sha256: digest, hidden }: Decided['texts'][number]): string {
  const seen = hidden === 0 ? t`nothing hidden` : plural(hidden, 'HIDDEN CHARACTER', 'HIDDEN CHARACTERS');
  return `${plural(characters, 'character')}, ${plural(bytes, 'byte')}, ${seen}, sha256 ${digest}`;
}

/** How many tasks of the server's project are open. */
export async function openTaskFigures(
  context: Context,
): Promise<{ open: number; oldestSeconds: number } | undefined> {
  try {
    const { queue } = await (await context.state()).tasks();
    const open = await queue.open();
    const since = Math.min(...open.map(({ created_at }) => Date.parse(created_at)));
    return { open: open.length, oldestSeconds: Math.max(0, (Date.now() - since) / 1_000) || 0 };
  } catch {
    return undefined;
  }
}
