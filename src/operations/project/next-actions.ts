import { plural, say, t } from '../../base/text/message.ts';
import * as z from 'zod';
import { ours } from '../../base/errors.ts';
import type { Step } from '../../base/step.ts';
import { present } from '../../base/values.ts';
import { oneLine } from '../../base/text/text.ts';
import type { Run } from '../../model/run.ts';
import type { ProgressAction, ProjectState } from '../context.ts';
import { stepSchema } from '../fields.ts';
import { allDone, asideWhy, begunText, closing, nextLabel, runData, type RunData } from '../runs/run-view.ts';
import type { Waiting } from './discovery.ts';

export const evidenceSchema = z.object({ file: z.string(), line: z.int().optional(), says: z.string() });
export type Evidence = z.output<typeof evidenceSchema>;

/** Where the files of a project contradict each other. */
export const driftSchema = z.object({
  kind: z.string(),
  about: z.string(),
  says: z.string(),
  evidence: z.array(evidenceSchema),
});

const unmarkedSchema = z.boolean().optional().describe('It has text, and nothing says that it is complete');

export const phaseSchema = z.object({
  phase: z.string(),
  /** What people call it. */
  name: z.string(),
  state: z.string(),
  unmarked: unmarkedSchema,
  /** Its state in a word. */
  word: z.string(),
  /** How many of its stories are done, in words, where there are any. */
  stories: z.string().optional(),
  /** How far it is, for those who draw it. */
  share: z.object({ done: z.int(), total: z.int() }),
  evidence: z.array(evidenceSchema),
});

export const itemSchema = z.object({
  phase: z.string(),
  kind: z.string(),
  id: z.string(),
  state: z.string(),
  status: z.string().optional(),
  /** Of epics, stories and specs: the column of a board where it stands. */
  column: z.string().optional(),
  /** Of a story: what it is called, and its epic. */
  title: z.string().optional(),
  epic: z.string().optional(),
  number: z.string().optional(),
  /** How many of its tasks are ticked. */
  tasks: z.object({ done: z.int(), total: z.int() }).optional(),
  unmarked: unmarkedSchema,
  evidence: z.array(evidenceSchema),
});

export const totalsSchema = z.object({
  stories: z.int(),
  done: z.int(),
  /** Built, and not reviewed yet. */
  waiting_for_review: z.int(),
  /** Done, though nothing on file shows a review. */
  done_without_review: z.int(),
});

export const actionSchema = z.object({
  what: z.string(),
  why: z.string(),
  /** What somebody wrote about it, in their own words. */
  says: z.string().optional(),
  /** What the last session noted as its next step, where that names this by its id or its story by its key. */
  noted: z.string().optional(),
  /** The key of the story that it is about. */
  story: z.string().optional(),
  /** What it is: something to repair, something under way, what follows by the method, or a way to begin something new. */
  of: z.enum(['broken', 'begun', 'method', 'new']),
  /** The agent or workflow to use, by the name it has in this project. */
  use: z.string().optional(),
  agent: z.string().optional(),
  /** When it is used at all, where the action itself is only an edit. */
  use_for: z.string().optional(),
  /** The calls for it, the first one first; what is called just for it says the same as it does. */
  steps: z.array(stepSchema),
  optional: z.boolean(),
  evidence: z.array(evidenceSchema),
});
export type Action = z.output<typeof actionSchema>;

/** What receipts say about work that is called done: a ledger says that of anything. */
export const verificationSchema = z.object({
  /** The newest verdict that was given here; `outdated`: a PASS of what has changed since; `none`: there was never one. */
  verdict: z.enum(['PASS', 'FAIL', 'outdated', 'none']),
  receipt: z.string().optional(),
  /** What has changed since the PASS, in words. */
  outdated: z.string().optional(),
  /** Of a PASS: the project is too large to be compared with it on each call. */
  compared: z.literal(false).optional(),
  /** Whether the completion contract could say more now. */
  contract: z.enum(['may run', 'waits for a person', 'forbidden', 'nothing to run', 'unknown']),
  says: z.string(),
  /** What the contract runs, or would run once a person has allowed it. */
  would: z.array(z.string()).optional(),
  steps: z.array(stepSchema),
});
export type Verification = z.output<typeof verificationSchema>;

/** Of what somebody wrote. */
const SHOWN_TEXT = 300;

/** What follows by the project's files. `message` is what the user wants, for the calls that begin something new. */
export function actionData(
  { what, why, says, story, worker, workerFor, about, steps = [], optional, of, evidence }: ProgressAction,
  message?: string,
): Action {
  const said = [worker?.command, about ?? (of === 'new' ? message : undefined)]
    .filter((part) => part !== undefined)
    .join(' ');
  return {
    what,
    why,
    of: of ?? 'method',
    ...present({
      says: says && oneLine(says, SHOWN_TEXT),
      story: story?.id,
      use: worker && [worker.name, worker.command].filter(Boolean).join(' '),
      agent: worker?.by,
      use_for: worker && workerFor,
    }),
    steps: worker === undefined ? steps : [starting(what, worker, said || undefined), ...steps],
    optional: optional ?? false,
    evidence,
  };
}

/** The call that starts an agent or a workflow. */
const starting = (why: string, { name, kind }: { name: string; kind: string }, message?: string): Step => ({
  operation: 'execute',
  args: present({ name, kind, message }),
  why,
});

/** The contract is called only where it may run; who has to do what before that stands above the actions. */
export function askedOf(action: Action, verification: Verification | undefined): Action {
  const isContract = action.steps[0]?.operation === 'run_completion_contract';
  if (!isContract || verification === undefined) return action;
  const { steps, contract } = verification;
  if (contract === 'may run') return action;
  return {
    ...action,
    why:
      contract === 'waits for a person'
        ? t`${action.why}, and waits for a person to allow it`
        : t`${action.why}, and cannot run here`,
    steps: steps.slice(0, 1),
  };
}

/** What can wait comes after what cannot, each in its order. */
export function neededFirst(actions: readonly Action[]): Action[] {
  return [...actions.filter(({ optional }) => !optional), ...actions.filter(({ optional }) => optional)];
}

export function runEvidence(run: Run, root: string): Evidence {
  return evidenceOf(runData(run, root));
}

function evidenceOf({ folder, status }: Pick<RunData, 'folder' | 'status'>): Evidence {
  return { file: `${folder}/state.json`, says: status };
}

/** What somebody has begun, and can be gone on with or closed. */
export interface UnderWay {
  waiting: Waiting;
  /** Runs that go on, each with the story that it is for. */
  runs: readonly { run: RunData; story?: string | undefined }[];
  /** Runs that nobody should go on with. */
  aside: readonly RunData[];
  /** What follows from the project's files. */
  due: readonly Action[];
  state: ProjectState;
  /** The name to start an agent by that somebody has named; nothing for a name that is nobody's. */
  handleOf(name: string): Promise<string | undefined>;
}

/**
 * What is old is no next step any more; it is there to be settled or closed. What the note of the last session names is one
 * step with it, taken out of what is due where it was there.
 */
export async function underWay({ waiting, runs, aside, due, state, handleOf }: UnderWay) {
  const { session, handoffs } = waiting;
  const begun: Action[] = [
    ...(await Promise.all(handoffs.map(async (each) => handoffAction(each, await handleOf(each.to ?? ''))))),
    ...runs.map(runAction),
    ...(await claimedTasks(state)),
    ...aside.map(asideAction),
  ];
  const named =
    session === undefined || session.old !== undefined
      ? undefined
      : [...begun, ...due].find((action) => isNamed(action, session));
  const first =
    session === undefined
      ? []
      : named === undefined
        ? [sessionAction(session)]
        : [
            {
              ...named,
              of: named.of === 'broken' ? named.of : base.of,
              noted: oneLine(session.next, SHOWN_TEXT),
            },
          ];
  const all: Action[] = [...first, ...begun.filter((action) => action !== named)];
  return {
    fresh: all.filter(({ optional }) => !optional),
    old: all.filter(({ optional }) => optional),
    due: due.filter((action) => action !== named),
  };
}

/** By an exact key or id: what else a note means, its reader knows. */
function isNamed({ story, steps }: Action, note: NonNullable<Waiting['session']>): boolean {
  if (story !== undefined && note.stories.includes(story)) return true;
  const words = new Set(note.next.match(/[\w-]+/g));
  return steps.some(({ args = {} }) =>
    [args['id'], args['run_id'], args['task_id']].some((id) => typeof id === 'string' && words.has(id)),
  );
}

const base = { of: 'begun', steps: [], optional: false, evidence: [] } satisfies Partial<Action>;

/** What the note says, and no call: who wrote it is not who does what it says. */
function sessionAction({ agent, date, next, old }: NonNullable<Waiting['session']>): Action {
  const who = [agent, date].filter((each) => each !== undefined).join(', ');
  return {
    ...base,
    what: who === '' ? t`Continue from the last session` : t`Continue from the last session (${who})`,
    why: t`whose note on the next step says`,
    says: oneLine(next, SHOWN_TEXT),
    optional: old !== undefined,
  };
}

/** First the call that begins the work, where the project knows the one who is asked, then the one that closes it. */
function handoffAction(
  { id, from, to, text, old }: Waiting['handoffs'][number],
  agent: string | undefined,
): Action {
  const what = t`Settle request ${id}`;
  return {
    ...base,
    what,
    why: askedBy(from, to, old),
    says: oneLine(text, SHOWN_TEXT),
    steps: [
      ...(agent === undefined ? [] : [starting(what, { name: agent, kind: 'agent' })]),
      { operation: 'complete_handoff', args: { id }, why: t`Once it is done` },
    ],
    optional: old !== undefined,
  };
}

function askedBy(from: string, to: string | undefined, old: string | undefined): string {
  if (to === undefined)
    return old === undefined ? t`asked by ${from}` : t`asked by ${from}, open since ${old}`;
  return old === undefined ? t`${from} asks ${to}` : t`${from} asks ${to}, open since ${old}`;
}

function runAction({ run, story }: UnderWay['runs'][number]): Action {
  const over = allDone(run);
  const { completed, total } = run.progress;
  const at = run.next_files === undefined ? '' : t`, next step ${nextLabel(run)}`;
  const steps =
    total === undefined ? '' : t`, ${completed} of ${plural(total, 'step')}${begunText(run)}${at}`;
  const named = over ? t`End run ${run.run_id}` : t`Resume run ${run.run_id}`;
  const what = story === undefined ? named : t`${named} for story ${story}`;
  const args = { run_id: run.run_id, ...(run.branch === 'main' ? {} : { branch: run.branch }) };
  return {
    ...base,
    what,
    ...present({ story }),
    why: over ? t`it is ${say(run.status)} and all its steps are done` : t`it is ${say(run.status)}${steps}`,
    steps: [{ operation: over ? 'run_finish' : 'run_resume', args, why: what }],
    evidence: [evidenceOf(run)],
  };
}

/** A run that is set aside is offered last, and only to be closed. */
function asideAction(run: RunData): Action {
  const what = t`Close run ${run.run_id}`;
  return {
    ...base,
    what,
    why: run.aside === undefined ? '' : asideWhy(run.aside),
    steps: [{ ...closing(run), why: what }],
    optional: true,
    evidence: [evidenceOf(run)],
  };
}

/** Tasks that a worker has taken and not handed in; those that cannot be read are told of by the queue itself. */
async function claimedTasks(state: ProjectState): Promise<Action[]> {
  const tasks = await state
    .tasks()
    .then(({ queue }) => queue.all())
    .catch(ours(() => undefined));
  return (tasks?.tasks ?? [])
    .filter(({ status }) => status === 'running')
    .map(({ task_id, agent, output_key: key, lease }) => {
      const what = t`Finish task ${key} for ${agent}`;
      return {
        ...base,
        what,
        why: lease === undefined ? t`it is claimed` : t`${lease.worker} has claimed it until ${lease.until}`,
        steps: [{ operation: 'task_show', args: { task_id }, why: what }],
      };
    });
}
