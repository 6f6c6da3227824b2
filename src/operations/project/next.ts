import * as z from 'zod';
import { present } from '../../base/present.ts';
import { cell, oneLine, plural } from '../../base/text/text.ts';
import { estimateTokens } from '../../base/text/token-estimate.ts';
import type { Run } from '../../model/run.ts';
import type { ProgressAction } from '../context.ts';
import { detailField, projectField, stepSchema } from '../fields.ts';
import { openRuns, workflowOf } from '../runs/open-runs.ts';
import { allDone, fileSteps, nextLabel, runData, type RunData } from '../runs/run-view.ts';
import { defineOperation, type SayStep } from '../operation.ts';
import { waitingIn, type Waiting } from './discovery.ts';

const evidenceSchema = z.object({ file: z.string(), line: z.int().optional(), says: z.string() });
type Evidence = z.output<typeof evidenceSchema>;

const actionSchema = z.object({
  what: z.string(),
  why: z.string(),
  /** The agent or workflow to use, by the name it has in this project. */
  use: z.string().optional(),
  agent: z.string().optional(),
  /** The arguments of the next call of `bmad`. */
  call: z.record(z.string(), z.string()).optional(),
  /** What to do where it is no call of `bmad`: an operation and its arguments. */
  action: z.object({ name: z.string(), args: z.record(z.string(), z.string()) }).optional(),
  /** Of a run that goes on: the file of its next step. */
  steps: z.array(stepSchema).optional(),
  optional: z.boolean(),
  evidence: z.array(evidenceSchema),
});
type Action = z.output<typeof actionSchema>;

const itemSchema = z.object({
  phase: z.string(),
  kind: z.string(),
  id: z.string(),
  state: z.string(),
  status: z.string().optional(),
  evidence: z.array(evidenceSchema),
});

type Totals = Record<'stories' | 'done' | 'waiting_for_review' | 'done_without_review', number>;

/** What is shown without asking for all of it. */
const SHOWN_ACTIONS = { concise: 1, standard: 3, full: 12 };
const SHOWN_DRIFT = { concise: 0, standard: 2, full: 40 };
const SHOWN_WAITING = { concise: 0, standard: 2, full: 20 };
const SHOWN_ITEMS = 150;

export const next = defineOperation({
  name: 'next',
  title: 'Next steps',
  description:
    'How far the project is, as proven by its ledgers and documents (by phase, with file and line), where they disagree, and what to do next with which agent or workflow. With detail full: all evidence.',
  effect: 'read',
  behind: { bmad: 'next' },
  command: 'next',
  examples: ['next', 'next --detail full'],
  input: z.strictObject({ detail: detailField, project: projectField }),
  output: z.object({
    project: z.string(),
    detail: detailField,
    phases: z.array(z.object({ phase: z.string(), state: z.string(), evidence: z.array(evidenceSchema) })),
    actions: z.array(actionSchema),
    drift: z.array(
      z.object({ kind: z.string(), about: z.string(), says: z.string(), evidence: z.array(evidenceSchema) }),
    ),
    /** Files that could not be read. */
    troubles: z.array(z.object({ file: z.string(), line: z.int().optional(), message: z.string() })),
    /** Hand-offs that are open, and where the last session ended. */
    waiting: z.object({
      handoffs: z.array(
        z.object({ id: z.string(), from: z.string(), to: z.string().optional(), text: z.string() }),
      ),
      session: z
        .object({ agent: z.string().optional(), date: z.string().optional(), next: z.string() })
        .optional(),
    }),
    /** Every document, epic and story; with detail "full". */
    items: z.array(itemSchema).optional(),
    totals: z.object({
      stories: z.int(),
      done: z.int(),
      /** Built, and not reviewed yet. */
      waiting_for_review: z.int(),
      /** Done, though nothing on file shows a review. */
      done_without_review: z.int(),
    }),
  }),

  async run({ detail, project }, context) {
    const [state, workspace] = await Promise.all([context.state(project), context.workspace(project)]);
    const progress = await state.progress();
    const { report, actions, totals } = await progress.next(workspace.catalogue);
    const runs = openRuns(await (await state.runs()).read());
    const [first, ...others] = runs;
    const { runAtStep } = await import('../runs/run-at-step.ts');
    const run =
      first === undefined
        ? undefined
        : runAction(await runAtStep(first, state.root, context, project), others);
    const begun = runs.flatMap((each) => {
      const phase = progress.phaseOf(workflowOf(each) ?? '');
      return phase === undefined ? [] : [{ phase, evidence: runEvidence(each, state.root) }];
    });
    return {
      project: state.root,
      detail,
      // What is being worked on has been started, whatever has been written so far.
      phases: report.phases.map((each) => {
        const found = begun.find(({ phase }) => phase === each.phase);
        return each.state !== 'not started' || found === undefined
          ? each
          : { ...each, state: 'in progress', evidence: [found.evidence] };
      }),
      actions: [...(run === undefined ? [] : [{ ...run, optional: false }]), ...actions.map(actionData)],
      drift: report.drift,
      troubles: report.troubles,
      waiting: await waitingIn(state),
      ...(detail === 'full' ? { items: report.items } : {}),
      totals,
    };
  },

  render({ detail, phases, actions, drift, troubles, waiting, items, totals }, say) {
    const lines = [
      phases.map(({ phase, state }) => `${phase} ${state}`).join(' · '),
      ...(totals.stories === 0 ? [] : [totalsLine(totals)]),
      '',
    ];
    if (actions.length === 0) lines.push('Nothing left to do: everything planned is done.');
    const shown = actions.slice(0, SHOWN_ACTIONS[detail]);
    for (const [index, action] of shown.entries()) lines.push(...actionLines(index + 1, action, say));
    const left = actions.length - shown.length;
    lines.push(...waitingLines(waiting, SHOWN_WAITING[detail]));
    if (drift.length > 0 && detail !== 'concise') {
      lines.push('', `${plural(drift.length, 'place')} where the project contradicts itself:`);
      for (const { kind, says, evidence } of drift.slice(0, SHOWN_DRIFT[detail]))
        lines.push(`- ${kind}: ${says}${evidence[0] === undefined ? '' : ` (${place(evidence[0])})`}`);
      if (drift.length > SHOWN_DRIFT[detail]) lines.push(`- and ${drift.length - SHOWN_DRIFT[detail]} more`);
    }
    for (const { file, line, message } of troubles.slice(0, detail === 'full' ? 40 : 2))
      lines.push(`Not read: ${place({ file, line })}: ${message}`);
    if (items !== undefined) lines.push('', ...table(items));
    const body = lines.join('\n');
    return {
      body,
      note: [`~${estimateTokens(body)} tokens.`, left > 0 ? `${plural(left, 'more action')}.` : undefined]
        .filter(Boolean)
        .join(' '),
      steps: shown.flatMap(({ what, action, steps = [] }) => [
        ...(action === undefined ? [] : [{ operation: action.name, args: action.args, why: what }]),
        ...steps,
      ]),
      again: detail === 'full' ? undefined : { args: { detail: 'full' }, why: 'See all evidence' },
    };
  },
});

const OPERATIONS = { reconcile: 'reconcile_ledgers', contract: 'run_completion_contract' };

function actionData({ what, why, worker, about, operation, optional, evidence }: ProgressAction): Action {
  const message = [worker?.command, about].filter((part) => part !== undefined).join(' ');
  return {
    what,
    why,
    ...(worker === undefined ? {} : { use: [worker.name, worker.command].filter(Boolean).join(' ') }),
    ...(worker?.by === undefined ? {} : { agent: worker.by }),
    ...(worker === undefined
      ? {}
      : {
          call: { operation: 'execute', [worker.kind]: worker.name, ...(message === '' ? {} : { message }) },
        }),
    ...(operation === undefined ? {} : { action: { name: OPERATIONS[operation], args: {} } }),
    optional: optional ?? false,
    evidence,
  };
}

function totalsLine(totals: Totals): string {
  const { stories, done, waiting_for_review: waiting, done_without_review: unseen } = totals;
  const open = waiting === 0 ? '' : `, ${waiting} waiting for review`;
  const noted = unseen === 0 ? '' : ` (${unseen} without a review on file)`;
  return `${done} of ${plural(stories, 'story', 'stories')} done${noted}${open}`;
}

function actionLines(number: number, action: Action, say: SayStep): string[] {
  const { what, why, use, agent, call, optional } = action;
  const first = `${number}. ${what}${optional ? ' (optional)' : ''}: ${why}`;
  if (call === undefined) return [first];
  const { operation = 'execute', message, ...named } = call;
  const [[kind, name] = []] = Object.entries(named);
  const step = say({ operation, args: present({ name, kind, message }) });
  return [first, `   ${use ?? ''}${agent === undefined ? '' : ` by ${agent}`}: ${step}`];
}

function place({ file, line }: Pick<Evidence, 'file' | 'line'>): string {
  return line === undefined ? file : `${file}:${line}`;
}

function table(items: readonly z.output<typeof itemSchema>[]): string[] {
  const rows = items.slice(0, SHOWN_ITEMS).map(({ phase, id, state, evidence }) => {
    const proof = evidence.map((one) => `${place(one)} ${one.says}`).join('; ');
    return `| ${phase} | ${cell(id)} | ${state} | ${cell(proof)} |`;
  });
  const more =
    items.length > SHOWN_ITEMS ? [`${items.length - SHOWN_ITEMS} more items are in the data.`] : [];
  return ['| phase | item | state | decided by |', '|---|---|---|---|', ...rows, ...more];
}

/** What others wait for, and what the last session meant to do next. */
function waitingLines({ handoffs, session }: Waiting, most: number): string[] {
  if (most === 0) return [];
  const rest = handoffs.length - most;
  const lines = [
    ...handoffs
      .slice(0, most)
      .map(({ id, from, to, text }) => `Open ${id}: ${from} → ${to ?? 'no one yet'}: ${oneLine(text, 120)}`),
    ...(rest > 0 ? [`${plural(rest, 'more open request')}.`] : []),
    ...(session === undefined
      ? []
      : [
          `Last session${[session.agent, session.date].map((each) => (each === undefined ? '' : `, ${each}`)).join('')}: next ${oneLine(session.next, 200)}`,
        ]),
  ];
  return lines.length === 0 ? [] : ['', ...lines];
}

function runEvidence(run: Run, root: string): Evidence {
  return evidenceOf(runData(run, root));
}

function evidenceOf({ folder, status }: Pick<RunData, 'folder' | 'status'>): Evidence {
  return { file: `${folder}/state.json`, says: status };
}

const NAMED = 3;

/** What is begun comes before anything new: the newest open run, and which others there are. */
function runAction(run: RunData, others: readonly Run[]): Omit<Action, 'optional'> {
  const over = allDone(run);
  const { completed, total } = run.progress;
  const at = run.next_files === undefined ? '' : `, next step ${nextLabel(run)}`;
  const steps = total === undefined ? '' : `, ${completed} of ${plural(total, 'step')}${at}`;
  const more = others.length > NAMED ? ` and ${others.length - NAMED} more` : '';
  const also =
    others.length === 0
      ? ''
      : `; also open: ${others
          .slice(0, NAMED)
          .map(({ id }) => id)
          .join(', ')}${more}`;
  const branch: Record<string, string> = run.branch === 'main' ? {} : { branch: run.branch };
  return {
    what: `${over ? 'End' : 'Resume'} run ${run.run_id}`,
    why: `it is ${run.status}${over ? ' and all its steps are done' : steps}${also}`,
    action: { name: over ? 'run_finish' : 'run_resume', args: { run_id: run.run_id, ...branch } },
    ...(run.next_files === undefined ? {} : { steps: fileSteps(run) }),
    evidence: [evidenceOf(run)],
  };
}
