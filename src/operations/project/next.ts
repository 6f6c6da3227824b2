import { noContent } from '../answer-text.ts';
import { plural, say as sayText, t } from '../../base/text/message.ts';
import { placed } from '../../base/text/text.ts';
import * as z from 'zod';
import type { Step } from '../../base/step.ts';
import { present } from '../../base/values.ts';
import { detailField, projectField, stepsField, deferredSchema } from '../fields.ts';
import { openRuns, workflowOf } from '../runs/run-view.ts';
import { defineOperation } from '../operation.ts';
import { deferredLines, waitingIn } from './discovery.ts';
import { handlesOf, languageOf } from '../catalogue/agent-names.ts';
import { onMachine } from './state-place.ts';
import {
  actionLines,
  canWait,
  endingLines,
  doneOf,
  inOrder,
  isLeftLast,
  isSame,
  shownOf,
  standingLines,
  table,
  verificationLines,
  wayLines,
} from './next-text.ts';
import {
  actionData,
  actionSchema,
  askedOf,
  driftSchema,
  itemSchema,
  neededFirst,
  phaseSchema,
  runEvidence,
  totalsSchema,
  underWay,
  verificationSchema,
} from './next-actions.ts';

/** The columns of a board, in the order of work. */
const COLUMNS = {
  backlog: 'Backlog',
  ready: 'Ready',
  progress: 'In progress',
  review: 'Review',
  done: 'Done',
};

/** A phase that is under way is half done, as far as nobody counts. */
const SHARES: Readonly<Record<string, number>> = { complete: 2, skipped: 2, 'in progress': 1 };

const SHOWN_DRIFT = { brief: 0, standard: 2, full: 40 };

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
      .describe('What the user wants; it is passed on in the calls that begin something new'),
    project: projectField,
  }),
  output: z.object({
    project: z.string(),
    /** That there is no content at all, and why: then nothing can be started. */
    nothing: z.string().optional(),
    detail: detailField,
    phases: z.array(phaseSchema),
    actions: z.array(actionSchema),
    /** Something was asked for: the ways to begin something new come before what can wait. */
    asked: z.literal(true).optional(),
    drift: z.array(driftSchema),
    /** Files that could not be read. */
    troubles: z.array(z.object({ file: z.string(), line: z.int().optional(), message: z.string() })),
    /** Every document, epic and story; with detail "full". */
    items: z.array(itemSchema).optional(),
    /** What the columns of a board are called, in the order of work; with detail "full". */
    columns: z.record(z.string(), z.string()).optional(),
    totals: totalsSchema,
    /** What BMAD's build workflow has put off, counted, and the file it is in. */
    deferred: deferredSchema.optional(),
    /** What the project is spoken to in, where it is set and is not English. */
    language: z.string().optional(),
    /** What of the project's state is on this machine only, counted, and the call that moves it. */
    on_machine: z.object({ text: z.string(), steps: stepsField }).optional(),
    /** What has been verified of what is done or in review; before that, only that the user has to allow it first. */
    verification: verificationSchema.optional(),
  }),

  async run({ detail, message }, context, call) {
    const [state, workspace] = await Promise.all([context.state(), context.workspace()]);
    const progress = await state.progress();
    const reading = await (await state.runs()).lately();
    const runs = openRuns(reading);
    const { createJudge, workOfRun } = await import('../runs/run-standing.ts');
    const judge = await createJudge(state, reading, { context, signal: call.signal });
    const { going, aside } = await judge.sorted(runs);
    const live = await Promise.all(
      going.map(async ({ run, data }) => ({ ...(await workOfRun(run, state)), run: data, of: run })),
    );
    const { report, phases, actions, totals, closing } = await progress.next(
      workspace.catalogue,
      live.map(({ of, story }) => ({ workflow: workflowOf(of) ?? '', story })),
    );
    const unmarked = new Set(
      report.artefacts.flatMap(({ plain, evidence: { file } }) => (plain === true ? [file] : [])),
    );
    const marked = <Each extends { state: string; evidence: readonly { file: string }[] }>(each: Each) => {
      const { state: own, evidence } = each;
      const isComplete = own === 'complete' && evidence.length > 0;
      return isComplete && evidence.every(({ file }) => unmarked.has(file))
        ? { ...each, unmarked: true }
        : each;
    };
    const begun = runs.flatMap((each) => {
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
    const isAsked = message !== undefined && message.trim() !== '';
    const all = actions.map((action) => askedOf(actionData(action, message), verification));
    const found = all.filter(({ of }) => of !== 'new');
    const isOver =
      built && totals.waiting_for_review + closing.length + live.length === 0 && found.every(isLeftLast);
    const proving =
      isOver && verification !== undefined
        ? provingAction(verification, totals.done_without_review + unseen)
        : undefined;
    const waiting = await waitingIn(state, judge.isPassed);
    const { fresh, old, due } = await underWay({
      waiting,
      runs: live,
      aside,
      due: neededFirst(proving === undefined ? found : [...found, proving]),
      state,
      handleOf: handlesOf(workspace, context),
    });
    const language = await languageOf(context);
    const machine = detail === 'brief' ? undefined : await onMachine(state);
    return {
      project: state.root,
      ...present({ nothing: noContent(workspace, context.config.discovery) }),
      detail,
      ...(language === undefined || /^en/i.test(language) ? {} : { language }),
      // What is being worked on has been started, whatever has been written so far.
      phases: phases.map((own) => {
        const each = marked(own);
        const run = begun.find(({ phase }) => phase === each.phase);
        const isNew = each.state === 'not started' && run !== undefined;
        return drawn(isNew ? { ...each, state: 'in progress', evidence: [run.evidence] } : each, totals);
      }),
      actions: inOrder(
        [
          ...due.filter(({ of }) => of === 'broken'),
          ...fresh,
          ...due.filter(({ of }) => of === 'method'),
          ...old,
        ],
        all.filter(({ of }) => of === 'new'),
        isAsked,
      ),
      ...(isAsked ? { asked: true as const } : {}),
      drift: report.drift,
      troubles: report.troubles,
      ...(detail === 'full' ? { items: report.items.map(marked), columns: columnNames() } : {}),
      totals,
      ...present({ deferred: report.deferred, verification, on_machine: machine }),
    };
  },

  render(
    {
      detail,
      actions,
      asked,
      drift,
      troubles,
      items,
      verification,
      language,
      on_machine,
      deferred,
      nothing,
      ...standing
    },
    say,
  ) {
    const about = { ...standing, verification };
    const notes = [on_machine?.text, language === undefined ? undefined : writingIn(language)].filter(
      (note) => note !== undefined,
    );
    const due = actions.filter(({ of }) => of !== 'new');
    const said = verificationLines(due, about, detail);
    const { steps: shown, ways: fresh } = shownOf(actions, detail);
    const later = asked === true ? shown.filter(canWait) : [];
    const sooner = shown.filter((action) => !later.includes(action));
    const ways = wayLines(fresh, { detail, asked }, say);
    const lines = [
      ...(nothing === undefined ? [] : [nothing]),
      ...standingLines(about),
      ...said,
      ...endingLines(due, about),
      ...deferredLines(deferred),
      ...sooner.flatMap((action, index) => actionLines(index + 1, action, say)),
      ...(asked !== true ? [] : shown.length === 0 ? ways : numbered(sooner.length + 1, ways)),
      ...later.flatMap((action, index) =>
        actionLines(sooner.length + Math.min(1, ways.length) + 1 + index, action, say),
      ),
    ];
    if (drift.length > 0 && detail !== 'brief') {
      lines.push(t`${plural(drift.length, 'place')} where the project contradicts itself:`);
      for (const { kind, says, evidence } of drift.slice(0, SHOWN_DRIFT[detail]))
        lines.push(driftLine(kind, says, evidence[0]));
      if (drift.length > SHOWN_DRIFT[detail]) lines.push(t`- and ${drift.length - SHOWN_DRIFT[detail]} more`);
    }
    for (const { file, line, message: why } of troubles.slice(0, detail === 'full' ? 40 : 2))
      lines.push(t`Not read: ${placed({ file, line })}: ${why}`);
    if (asked === undefined) lines.push(...ways);
    if (items !== undefined) lines.push('', ...table(items));
    const more = due.length - shown.length;
    return {
      body: lines.join('\n'),
      ...(notes.length === 0 ? {} : { note: notes.join(' ') }),
      // What stands under an action is not said again.
      steps: [
        ...(verification?.steps ?? []),
        ...(said.length > 0 && verification?.compared === false ? [COMPARE] : []),
        ...(on_machine?.steps ?? []),
      ].filter((step) => !shown.flatMap((action) => action.steps).some((other) => isSame(step, other))),
      again:
        detail === 'full'
          ? undefined
          : {
              // What the user wants is in the calls above.
              args: { detail: 'full', message: undefined },
              why: more > 0 ? t`See the other steps and all evidence` : t`See all evidence`,
            },
    };
  },
});

const columnNames = (): Record<string, string> =>
  Object.fromEntries(Object.entries(COLUMNS).map(([column, name]) => [column, sayText(name)]));

/** A phase with what every surface says and draws of it. */
function drawn<P extends { phase: string; state: string; unmarked?: boolean }>(
  each: P,
  { stories, done }: { stories: number; done: number },
) {
  const isCounted = each.phase === 'implementation' && stories > 0;
  const name = sayText(each.phase);
  return {
    ...each,
    name: name.charAt(0).toUpperCase() + name.slice(1),
    word: sayText(each.unmarked === true ? 'there' : each.state),
    ...(isCounted ? { stories: doneOf(done, stories) } : {}),
    share: isCounted ? { done, total: stories } : { done: SHARES[each.state] ?? 0, total: 2 },
  };
}

const writingIn = (language: string): string =>
  t`Write in ${sayText(language)}, the language of this project.`;

const driftLine = (kind: string, says: string, proof: Parameters<typeof placed>[0] | undefined): string =>
  t`- ${sayText(kind)}: ${says}${proof === undefined ? '' : ` (${placed(proof)})`}`;

/** A line as an item of the list, and what belongs to it under it. */
const numbered = (number: number, [first, ...rest]: readonly string[]): string[] =>
  first === undefined ? [] : [`${number}. ${first}`, ...rest.map((line) => `   ${line}`)];
