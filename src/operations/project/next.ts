import * as z from 'zod';
import type { Step } from '../../base/step.ts';
import { plural } from '../../base/text/text.ts';
import { estimateTokens } from '../../base/text/token-estimate.ts';
import { detailField, projectField } from '../fields.ts';
import { openRuns, workflowOf } from '../runs/open-runs.ts';
import { defineOperation } from '../operation.ts';
import { waitingIn } from './discovery.ts';
import { languageOf } from '../catalogue/agent-names.ts';
import {
  actionLines,
  asideLines,
  closingSteps,
  endingLines,
  notShown,
  place,
  table,
  totalsLines,
  verificationLines,
  waitingLines,
} from './next-waiting.ts';
import {
  actionData,
  actionSchema,
  asideAction,
  askedOf,
  evidenceSchema,
  isLeftLast,
  isSame,
  runAction,
  runEvidence,
  stepsOf,
  verificationSchema,
  withWish,
} from './next-actions.ts';

const itemSchema = z.object({
  phase: z.string(),
  kind: z.string(),
  id: z.string(),
  state: z.string(),
  status: z.string().optional(),
  evidence: z.array(evidenceSchema),
});

/** What is shown without asking for all of it. */
const SHOWN_ACTIONS = { brief: 1, standard: 3, full: 12 };
const SHOWN_DRIFT = { brief: 0, standard: 2, full: 40 };
const SHOWN_WAITING = { brief: 0, standard: 2, full: 20 };

const COMPARE: Step = { operation: 'verify_receipts', why: 'Compare the files with those that passed' };

export const next = defineOperation({
  name: 'next',
  title: 'Next steps',
  description:
    'How far the project is, as proven by its ledgers and documents (by phase, with file and line), where they disagree, and what to do next with which agent or workflow. With detail full: all evidence.',
  effect: 'read',
  behind: { bmad: 'next' },
  command: 'next',
  examples: ['next', 'next --detail full'],
  input: z.strictObject({
    detail: detailField,
    message: z
      .string()
      .max(200_000)
      .optional()
      .describe('What the user wants; something small that is not planned goes straight to code'),
    project: projectField,
  }),
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
        z.object({
          id: z.string(),
          from: z.string(),
          to: z.string().optional(),
          text: z.string(),
          old: z.string().optional(),
        }),
      ),
      session: z
        .object({
          agent: z.string().optional(),
          date: z.string().optional(),
          next: z.string(),
          /** The day it ended, where the work has gone on since for a long time. */
          old: z.string().optional(),
        })
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
    /** What the project is spoken to in, where it is set and is not English. */
    language: z.string().optional(),
    /** What has been verified of what is done or in review; before that, only that the user has to allow it first. */
    verification: verificationSchema.optional(),
  }),

  async run({ detail, message, project }, context, call) {
    const [state, workspace] = await Promise.all([context.state(project), context.workspace(project)]);
    const progress = await state.progress();
    const reading = await (await state.runs()).read();
    const runs = openRuns(reading);
    const { createJudge } = await import('../runs/run-standing.ts');
    const judge = await createJudge(state, reading, { context, project, signal: call.signal });
    const { first, others, aside } = await judge.sorted(runs);
    const run = first === undefined ? undefined : runAction(first, others);
    // A run that was set aside does not prevent a new one.
    const left = new Set(aside.map(({ run_id: id }) => id));
    const live = runs.filter(({ id }) => !left.has(id));
    const started = live.flatMap((each) => workflowOf(each) ?? []);
    const { report, actions, wished, totals, closing } = await progress.next(workspace.catalogue, {
      started,
      wish: message,
    });
    const begun = live.flatMap((each) => {
      const phase = progress.phaseOf(workflowOf(each) ?? '');
      return phase === undefined ? [] : [{ phase, evidence: runEvidence(each, state.root) }];
    });
    const built =
      totals.done + totals.waiting_for_review + closing.length > 0 ||
      report.files.specs.some(({ status }) => status === 'review' || status === 'done');
    // A build sets its own spec to done: only the findings of a review show that there was one.
    const unseen = report.files.specs.filter(
      ({ status, review }) => status === 'done' && review === undefined,
    ).length;
    const { verificationOf, provingAction } = await import('./verification.ts');
    const verification =
      built || totals.stories > 0
        ? await verificationOf(state, call, { built, waiting: totals.waiting_for_review, closing })
        : undefined;
    const due = [
      ...(run === undefined ? [] : [{ ...run, optional: false }]),
      ...actions.map((action) => askedOf(actionData(action), verification)),
    ];
    const isOver = built && totals.waiting_for_review + closing.length === 0 && due.every(isLeftLast);
    const proving =
      isOver && verification !== undefined
        ? provingAction(verification, totals.done_without_review + unseen)
        : undefined;
    const language = await languageOf(workspace);
    return {
      project: state.root,
      detail,
      ...(language === undefined || /^en/i.test(language) ? {} : { language }),
      // What is being worked on has been started, whatever has been written so far.
      phases: report.phases.map((each) => {
        const found = begun.find(({ phase }) => phase === each.phase);
        return each.state !== 'not started' || found === undefined
          ? each
          : { ...each, state: 'in progress', evidence: [found.evidence] };
      }),
      actions: [
        ...withWish([...due, ...(proving === undefined ? [] : [proving])], wished && actionData(wished)),
        ...aside.map(asideAction),
      ],
      drift: report.drift,
      troubles: report.troubles,
      waiting: await waitingIn(state, judge.isPassed),
      ...(detail === 'full' ? { items: report.items } : {}),
      totals,
      ...(verification === undefined ? {} : { verification }),
    };
  },

  render(
    { detail, phases, actions, drift, troubles, waiting, items, totals, verification, language },
    say,
    reader,
  ) {
    const due = actions.filter(({ aside }) => aside === undefined);
    const left = actions.filter(({ aside }) => aside !== undefined);
    const said = verificationLines(due, { totals, phases, verification }, detail);
    const lines = [
      phases.map(({ phase, state }) => `${phase} ${state}`).join(' · '),
      ...totalsLines(totals, phases, verification),
      ...said,
      '',
      ...endingLines(due, { totals, phases, verification }),
    ];
    const shown = due.slice(0, SHOWN_ACTIONS[detail]);
    for (const [index, action] of shown.entries()) lines.push(...actionLines(index + 1, action, say));
    const more = due.slice(shown.length).map(({ what }) => what);
    lines.push(...waitingLines(waiting, SHOWN_WAITING[detail]), ...asideLines(left, detail));
    if (drift.length > 0 && detail !== 'brief') {
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
      note: [
        reader?.counts === false ? undefined : `~${estimateTokens(body)} tokens.`,
        more.length === 0 ? undefined : notShown(more),
        language === undefined ? undefined : `Write in ${language}, the language of this project.`,
      ]
        .filter(Boolean)
        .join(' '),
      // What stands under an action is not said again.
      steps: [
        ...(verification?.steps ?? []),
        ...(said.length > 0 && verification?.compared === false ? [COMPARE] : []),
        ...closingSteps(waiting, left, detail),
      ].filter((step) => !shown.flatMap(stepsOf).some((other) => isSame(step, other))),
      again:
        detail === 'full'
          ? undefined
          : {
              args: { detail: 'full' },
              why: more.length > 0 ? 'See all actions and evidence' : 'See all evidence',
            },
    };
  },
});
