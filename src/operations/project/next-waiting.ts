import type { SayStep, Step } from '../../base/step.ts';
import { present } from '../../base/present.ts';
import { cell, plural, written } from '../../base/text/text.ts';
import type { Waiting } from './discovery.ts';
import { isProving, stepsOf, type Action, type Evidence, type Verification } from './next-actions.ts';

type Totals = Record<'stories' | 'done' | 'waiting_for_review' | 'done_without_review', number>;

interface Item {
  phase: string;
  id: string;
  state: string;
  evidence: Evidence[];
}

const SHOWN_ITEMS = 150;

/** What others wait for, and what the last session meant to do next; what is old comes last and says so. */
export function waitingLines({ handoffs, session }: Waiting, most: number): string[] {
  if (most === 0) return [];
  const fresh = handoffs.filter(({ old }) => old === undefined);
  const [stale, ...others] = handoffs.filter(({ old }) => old !== undefined);
  const rest = fresh.length - most;
  const lines = [
    ...fresh
      .slice(0, most)
      .map(({ id, from, to, text }) => `Open ${id}: ${from} → ${to ?? 'no one yet'}: ${written(text, 120)}`),
    ...(rest > 0 ? [`${plural(rest, 'more open request')}.`] : []),
    ...(session === undefined ? [] : [sessionLine(session)]),
    ...(stale === undefined
      ? []
      : [
          `Old, open since ${stale.old ?? ''}: ${stale.id}: ${stale.from} → ${stale.to ?? 'no one yet'}: ${written(stale.text, 120)}${others.length === 0 ? '' : `, and ${others.length} more`}`,
        ]),
  ];
  return lines.length === 0 ? [] : ['', ...lines];
}

function sessionLine({ agent, date, next, old }: NonNullable<Waiting['session']>): string {
  const who = [agent, date].map((each) => (each === undefined ? '' : `, ${each}`)).join('');
  const text = written(next, 200);
  return old === undefined
    ? `Last session${who}: next ${text}`
    : `Last saved session${who}, old: it meant to continue with ${text}`;
}

const SHOWN_ASIDE = { brief: 0, standard: 1, full: 20 };

/** Runs that are nothing to go on with, and why, a line each. */
export function asideLines(left: readonly Action[], detail: keyof typeof SHOWN_ASIDE): string[] {
  const most = SHOWN_ASIDE[detail];
  if (most === 0 || left.length === 0) return [];
  const rest = left.length - most;
  return [
    '',
    ...left.slice(0, most).map(({ why }) => why),
    ...(rest > 0 ? [`${plural(rest, 'more run')} set aside.`] : []),
  ];
}

/** What closes that which is shown and old. */
export function closingSteps(
  { handoffs }: Waiting,
  left: readonly Action[],
  detail: keyof typeof SHOWN_ASIDE,
): Step[] {
  const most = SHOWN_ASIDE[detail];
  const stale = most === 0 ? undefined : handoffs.find(({ old }) => old !== undefined);
  return [
    ...left
      .slice(0, most)
      .flatMap(({ action }) =>
        action === undefined ? [] : [{ operation: action.name, args: action.args, why: 'Close that run' }],
      ),
    ...(stale === undefined
      ? []
      : [
          {
            operation: 'complete_handoff',
            args: { id: stale.id },
            why: `If ${stale.id} is settled, close it`,
          },
        ]),
  ];
}

type Verified = Pick<Verification, 'verdict' | 'says' | 'compared'> | undefined;

/** Something is called done that no contract has ever passed. */
const isUnproven = ({ done }: Totals, verified: Verified): boolean =>
  done > 0 && (verified?.verdict === 'none' || verified?.verdict === 'FAIL');

/** What is said where nothing has to be done any more; nothing where something has. */
export function endingLines(due: readonly Action[], { totals, phases, verification }: Ended): string[] {
  const proof =
    verification?.verdict === 'outdated'
      ? ', and no longer proven'
      : isUnproven(totals, verification)
        ? ', and not proven'
        : '';
  if (due.length === 0) return [`Nothing left to do: everything planned is done${proof}.`];
  if (!isOver(due, phases)) return [];
  return [
    totals.stories === 0
      ? `Everything planned is done${proof}; what follows is optional.`
      : `All stories are done${proof}; what follows is optional.`,
  ];
}

interface Ended {
  totals: Totals;
  phases: readonly { state: string }[];
  verification?: Verified;
}

const isOver = (due: readonly Action[], phases: Ended['phases']): boolean =>
  due.length === 0 || (due.every(({ optional }) => optional) && phases.at(-1)?.state === 'complete');

/** What to say about verification. A PASS is mentioned in full detail, or if all is done and the files were not compared. */
export function verificationLines(
  due: readonly Action[],
  { phases, verification }: Ended,
  detail: string,
): string[] {
  if (verification === undefined || due.some(isProving)) return [];
  const { verdict, compared, says } = verification;
  return verdict !== 'PASS' || detail === 'full' || (compared === false && isOver(due, phases)) ? [says] : [];
}

export function totalsLines(
  totals: Totals,
  phases: readonly { state: string }[],
  verified: Verified,
): string[] {
  if (totals.stories === 0) return phases.at(-1)?.state === 'not started' ? [] : ['No story is recorded.'];
  const { stories, done, waiting_for_review: waiting, done_without_review: unseen } = totals;
  const open = waiting === 0 ? '' : `, ${waiting} waiting for review`;
  const noted = unseen === 0 ? '' : ` (${unseen} without a review on file)`;
  const proven = isUnproven(totals, verified) ? ', 0 proven' : '';
  return [`${done} of ${plural(stories, 'story', 'stories')} done${noted}${proven}${open}`];
}

export function actionLines(number: number, action: Action, say: SayStep): string[] {
  const { what, why, use, use_for: purpose, agent, call, optional } = action;
  const first = `${number}. ${what}${optional ? ' (optional)' : ''}: ${why}`;
  const steps = stepsOf(action).map((step) => `   ${step.why === what ? '' : `${step.why}: `}${say(step)}`);
  if (call === undefined) return [first, ...steps];
  const { operation = 'execute', message, ...named } = call;
  const [[kind, name] = []] = Object.entries(named);
  const step = say({ operation, args: present({ name, kind, message }) });
  const who = `${use ?? ''}${agent === undefined ? '' : ` by ${agent}`}`;
  return [first, `   ${purpose === undefined ? '' : `${purpose}: `}${who}: ${step}`, ...steps];
}

const NAMED_ACTIONS = 4;

/** What there is besides, by name: who wants one of them knows what to ask for. */
export function notShown(names: readonly string[]): string {
  const rest = names.length - NAMED_ACTIONS;
  const more = rest > 0 ? `; ${rest} more` : '';
  return `Not shown: ${names.slice(0, NAMED_ACTIONS).join('; ')}${more}.`;
}

export function place({ file, line }: Pick<Evidence, 'file' | 'line'>): string {
  return line === undefined ? file : `${file}:${line}`;
}

export function table(items: readonly Item[]): string[] {
  const rows = items.slice(0, SHOWN_ITEMS).map(({ phase, id, state, evidence }) => {
    const proof = evidence.map((one) => `${place(one)} ${one.says}`).join('; ');
    return `| ${phase} | ${cell(id)} | ${state} | ${cell(proof)} |`;
  });
  const more =
    items.length > SHOWN_ITEMS ? [`${items.length - SHOWN_ITEMS} more items are in the data.`] : [];
  return ['| phase | item | state | decided by |', '|---|---|---|---|', ...rows, ...more];
}
