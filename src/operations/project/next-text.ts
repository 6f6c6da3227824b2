import type * as z from 'zod';
import { say as sayText, t } from '../../base/text/message.ts';
import type { SayStep, Step } from '../../base/step.ts';
import { cell, placed } from '../../base/text/text.ts';
import type { Action, itemSchema, phaseSchema, totalsSchema, Verification } from './next-actions.ts';

type Totals = z.output<typeof totalsSchema>;

interface Standing {
  totals: Totals;
  phases: readonly Pick<z.output<typeof phaseSchema>, 'phase' | 'state' | 'unmarked'>[];
  verification?: Verified;
}

type Verified = Pick<Verification, 'verdict' | 'says' | 'compared' | 'receipt'> | undefined;
export type Detail = 'brief' | 'standard' | 'full';

const SHOWN_ITEMS = 150;
/** How many steps are shown without asking for all of them. */
const SHOWN = {
  brief: { first: 3, method: 1, old: 1 },
  standard: { first: 6, method: 3, old: 2 },
  full: { first: 60, method: 60, old: 60 },
};

/** Something is called done that no contract has ever passed. */
const isUnproven = ({ done }: Totals, verified: Verified): boolean =>
  done > 0 && (verified?.verdict === 'none' || verified?.verdict === 'FAIL');

/** How far the project is: the phases that have been begun in a line, and its stories. */
export function standingLines({ phases, totals, verification }: Standing): string[] {
  const last = phases.findLastIndex(({ state }) => state !== 'not started');
  // After one that is complete also the phase that the next step belongs to. One that was never begun before is done without.
  const begun = phases.flatMap(({ phase, state, unmarked }, index) =>
    state !== 'not started' || (index === last + 1 && phases[last]?.state === 'complete')
      ? [phaseWords(sayText(phase), state, unmarked)]
      : [],
  );
  const { stories, done, waiting_for_review: waiting, done_without_review: unseen } = totals;
  const open = waiting === 0 ? '' : t`, ${waiting} waiting for review`;
  const noted = unseen === 0 ? '' : t` (${unseen} without a review on file)`;
  const { verdict, compared, receipt } = verification ?? {};
  const unproven = isUnproven(totals, verification) ? t`, 0 proven` : '';
  // Only a PASS of the files as they are now says anything about them.
  const proven =
    done > 0 && verdict === 'PASS' && compared !== false ? t` and proven (${receipt ?? ''})` : '';
  const counted =
    stories === 0 || phases.at(-1)?.state === 'not started'
      ? []
      : [`${doneOf(done, stories)}${proven}${noted}${unproven}${open}`];
  return [begun.length === 0 ? t`Nothing is planned yet.` : begun.join(' · '), ...counted];
}

/** `1 of 3 stories done`; what is counted agrees with how many are done in some languages, with all in others. */
export function doneOf(done: number, stories: number): string {
  if (stories === 1) return t`${done} of 1 story done`;
  return done === 1 ? t`1 of ${stories} stories done` : t`${done} of ${stories} stories done`;
}

/** What has a text and no mark of its method is there; whether it is complete, nothing says. */
function phaseWords(phase: string, state: string, unmarked = false): string {
  if (unmarked) return t`${phase} there`;
  if (state === 'complete') return t`${phase} complete`;
  return state === 'not started' ? t`${phase} not started` : t`${phase} in progress`;
}

/** What of a step decides whether it is shown. */
type Offered = Pick<Action, 'of' | 'optional' | 'steps'>;

/** Whether it is the step that proves all of it, which says what there is to say of verification. */
const isProving = ({ optional, steps }: Offered): boolean =>
  !optional && steps.some(({ operation }) => operation === 'run_completion_contract');

/** What can wait for something new: it proves what is built, may be done as well, or is old. */
export const canWait = (action: Offered): boolean =>
  action.optional || (action.of !== 'broken' && isProving(action));

/** The steps by evidence, and the ways to begin something new after them; where something is asked for, what can wait is last. */
export function inOrder<A extends Offered>(steps: readonly A[], ways: readonly A[], asked: boolean): A[] {
  const later = asked ? steps.filter(canWait) : [];
  return [...steps.filter((step) => !later.includes(step)), ...ways, ...later];
}

/** Whether it is of those that are left once everything is built. */
export function isLeftLast({ optional, steps }: Offered): boolean {
  return optional || steps[0]?.operation === 'reconcile_ledgers';
}

/**
 * The steps that are shown, in text and on a screen: what is broken and what is under way, then what has to be done by the
 * method, then what is old. What may be done as well is named once everything is built. In brief it is the first of these
 * that there is.
 */
function shownSteps<A extends Offered>(actions: readonly A[], detail: Detail): A[] {
  const most = SHOWN[detail];
  const isOld = ({ of, optional }: A): boolean => optional && of === 'begun';
  const first = actions.filter((action) => !/^(?:method|new)$/.test(action.of) && !isOld(action));
  const method = actions.filter(({ of }) => of === 'method');
  const needed = method.filter(({ optional }) => !optional);
  const isEnd = [...first, ...needed].every((action) => isLeftLast(action) || isProving(action));
  const follow = detail === 'full' || isEnd ? method : needed;
  const groups = [
    first.slice(0, most.first),
    follow.slice(0, most.method),
    actions.filter(isOld).slice(0, most.old),
  ];
  return detail === 'brief' ? (groups.find(({ length }) => length > 0) ?? []) : groups.flat();
}

/** What is shown of an answer, in text and on a screen: steps, and after them the ways to begin something new. */
export function shownOf<A extends Offered>(actions: readonly A[], detail: Detail): { steps: A[]; ways: A[] } {
  const steps = shownSteps(actions, detail);
  const isEnough = detail === 'brief' && steps.length > 0;
  return { steps, ways: isEnough ? [] : actions.filter(({ of }) => of === 'new') };
}

/** The calls of a step, each with what it is for where that is not what stands above it. */
export const callsOf = ({
  what,
  use_for: purpose,
  steps,
}: Action): { step: Step; label?: string | undefined }[] =>
  steps.map((step) => ({ step, label: step.why === what ? purpose : step.why }));

/** What is said where nothing has to be done any more; nothing where something has. */
export function endingLines(due: readonly Action[], { totals, phases, verification }: Standing): string[] {
  const proof =
    verification?.verdict === 'outdated'
      ? t`, and no longer proven`
      : isUnproven(totals, verification)
        ? t`, and not proven`
        : '';
  const isBegun = phases.some(({ state }) => state !== 'not started');
  if (due.length === 0) return isBegun ? [t`Everything planned is done${proof}.`] : [];
  if (!isOver(due, phases)) return [];
  return [
    totals.stories === 0
      ? t`Everything planned is done${proof}; what follows is optional.`
      : t`All stories are done${proof}; what follows is optional.`,
  ];
}

const isOver = (due: readonly Action[], phases: Standing['phases']): boolean =>
  due.length === 0 || (due.every(({ optional }) => optional) && phases.at(-1)?.state === 'complete');

/** What to say about verification. A PASS is mentioned in full detail, or if all is done and the files were not compared. */
export function verificationLines(
  due: readonly Action[],
  { phases, verification }: Standing,
  detail: Detail,
): string[] {
  if (verification === undefined || due.some(isProving)) return [];
  const { verdict, compared, says } = verification;
  return verdict !== 'PASS' || detail === 'full' || (compared === false && isOver(due, phases)) ? [says] : [];
}

export function isSame(a: Step, b: Step): boolean {
  return a.operation === b.operation && JSON.stringify(a.args) === JSON.stringify(b.args);
}

export function actionLines(number: number, action: Action, say: SayStep): string[] {
  const { what, why, says, noted, optional } = action;
  const begun = `${number}. ${what}${optional ? t` (optional)` : ''}`;
  const first = says === undefined ? t`${begun}: ${why}` : t`${begun}, ${why}: "${says}"`;
  const steps = callsOf(action).flatMap(({ step, label }) => {
    const said = (say.ifTaken ?? say)(step);
    return said === undefined ? [] : [`   ${label === undefined ? '' : t`${label}: `}${said}`];
  });
  const note = noted === undefined ? [] : [t`   The last session noted: "${noted}"`];
  return [first, ...note, ...steps];
}

const RECALL = { operation: 'recall_structured', open: ['query'] };

/**
 * The ways to begin something new, in a line with what each is for and how they are called: with the user's words once. These
 * may as well be a question, which nothing new answers.
 */
export function wayLines(
  all: readonly Action[],
  { detail, asked }: { detail: Detail; asked?: true | undefined },
  say: SayStep,
): string[] {
  const [first] = all;
  if (first === undefined) return [];
  // The workflows of version 4 that name its agents one after the other are a longer way to the same.
  const ways = detail === 'full' ? all : all.filter((way) => kindOf(way) === kindOf(first));
  const calls = ways.map((way) => {
    const { args = {} } = way.steps[0] ?? {};
    // Agents of version 4 are given a command before the user's words.
    const isSaid = args['kind'] === 'agent' && typeof args['message'] === 'string';
    const said = isSaid ? { message: String(args['message']).replace(/^\*\S+/, '*…') } : {};
    return say({ operation: 'execute', args: { ...args, ...said, name: '…' } });
  });
  const named = ways.map(({ use, why }) => `${use ?? ''} (${why})`).join(' · ');
  const recall = asked === true ? say.ifTaken?.(RECALL) : undefined;
  return [
    t`To begin something new, use ${named}: ${[...new Set(calls)].join(' · ')}`,
    ...(recall === undefined ? [] : [t`To answer a question about the project: ${recall}`]),
  ];
}

const kindOf = ({ steps }: Action): unknown => steps[0]?.args?.['kind'];

export function table(items: readonly z.output<typeof itemSchema>[]): string[] {
  const rows = items.slice(0, SHOWN_ITEMS).map(({ phase, id, state, unmarked, evidence }) => {
    const proof = evidence.map((one) => `${placed(one)} ${one.says}`).join('; ');
    return `| ${sayText(phase)} | ${cell(id)} | ${sayText(unmarked === true ? 'there' : state)} | ${cell(proof)} |`;
  });
  const more =
    items.length > SHOWN_ITEMS ? [t`${items.length - SHOWN_ITEMS} more items are in the data.`] : [];
  return [t`| phase | item | state | decided by |`, '|---|---|---|---|', ...rows, ...more];
}
