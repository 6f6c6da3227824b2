import { t } from '../../base/text/message.ts';
import { ours } from '../../base/errors.ts';
import type { Step } from '../../base/step.ts';
import type { Call, ProjectState } from '../context.ts';
import type { Action, Verification } from './next-actions.ts';

type Way = Pick<Verification, 'contract' | 'steps'> & { why: string };

const RUN: Step = { operation: 'run_completion_contract', args: {}, why: 'Verify the work' };

/** How work that is done or waits for review has been verified, and who can do what about it. */
export async function verificationOf(
  state: ProjectState,
  call: Pick<Call, 'confirm' | 'signal' | 'typed'>,
  { built, ...reviews }: Reviews & { built: boolean },
): Promise<Verification | undefined> {
  const { confirm, signal, typed } = call;
  const completion = await state.completion();
  const known = await completion.standing().catch(ours(({ message }) => message));
  if (typeof known === 'string')
    return !built
      ? undefined
      : {
          verdict: 'none',
          contract: 'unknown',
          says: t`It is not known whether anything was verified: ${known}`,
          steps: [],
        };
  const { last, way } = known;
  const would = way.may === 'run' || way.may === 'ask' ? way.commands : [];
  const isPassed = last?.status === 'PASS';
  const since = built && isPassed ? await completion.since(signal).catch(ours(() => undefined)) : undefined;
  const outdated = since && outdatedText(since);
  const again =
    last === undefined
      ? t`the completion contract has not been run`
      : isPassed
        ? reviews.waiting > 0
          ? t`run the contract again after the review`
          : t`run the contract again`
        : t`repair it and run the contract again`;
  const { why, contract, steps } = wayFrom(way, state.root, call, again);
  // Before anything is built there is one thing to know: what the user is asked for at the end can be given now.
  if (!built)
    return way.may !== 'ask' || confirm !== undefined
      ? undefined
      : {
          verdict: 'none',
          contract,
          says:
            typed === true
              ? t`Only a person can allow the completion contract, which proves that a story is done.`
              : t`Only the user can allow the completion contract, which proves that a story is done, so tell them now.`,
          steps,
        };
  const runs = would.length === 0 ? {} : { would };
  if (outdated !== undefined)
    return {
      verdict: 'outdated',
      receipt: since?.pass.id,
      contract,
      ...runs,
      outdated,
      says: t`The project was ${outdated}: ${why}.`,
      steps,
    };
  if (isPassed) {
    const isCompared = since?.files === 'same';
    return {
      verdict: 'PASS',
      receipt: last.id,
      contract,
      ...(isCompared ? {} : { compared: false }),
      says: isCompared
        ? t`Last verified ${last.started}: contract PASS (${last.id}).`
        : t`Last verified ${last.started}: contract PASS (${last.id}). Whether files have changed since was not compared.`,
      steps: [],
    };
  }
  return {
    verdict: last?.status ?? 'none',
    ...(last === undefined ? {} : { receipt: last.id }),
    contract,
    ...runs,
    says: [
      last === undefined
        ? t`Nothing has been verified: ${why}.`
        : t`The last verification failed (${last.id}): ${why}.`,
      ...ruleLine(reviews),
    ].join('\n'),
    steps,
  };
}

type Since = NonNullable<Awaited<ReturnType<Completion['since']>>>;

/** What has changed since a PASS, after which it proves nothing; nothing where nothing is known to have changed. */
function outdatedText({ pass: { id, started }, files, contract }: Since): string | undefined {
  const day = started.slice(0, 10);
  if (files === 'changed') return t`proven on ${day} (${id}), but files have changed since`;
  return contract === 'changed' ? t`proven on ${day} (${id}), but the contract has changed since` : undefined;
}

/** How many stories wait for a review, and which have passed it and are not set to done. */
interface Reviews {
  waiting: number;
  closing: readonly string[];
}

/** BMAD's rule and what only the contract says. */
function ruleLine({ waiting, closing }: Reviews): string[] {
  const [first] = closing;
  if (first !== undefined)
    return [
      t`By BMAD's own rule, the gate PASS of story ${first} is enough to set it to Done; it is proven when the completion contract passes.`,
    ];
  return waiting === 0
    ? []
    : [t`A story is done when its review passes, and proven when the completion contract passes.`];
}

/**
 * The step that is left where everything is built: until it is taken, what is done is not proven. `unseen` is how much of
 * it has no review on file.
 */
export function provingAction(
  { verdict, contract, steps, outdated, would = [] }: Verification,
  unseen: number,
): Action | undefined {
  if (verdict === 'PASS' || (contract !== 'may run' && contract !== 'waits for a person')) return undefined;
  const [first] = steps;
  const asksUser = first !== undefined && first.operation !== RUN.operation;
  const so =
    outdated ?? (unseen === 0 ? t`it is built and reviewed, but not proven` : t`it is built, but not proven`);
  const runs = would.length === 0 ? '' : t` (it runs ${would.join(', ')})`;
  const how = asksUser
    ? t`the user has to allow the completion contract${runs}`
    : t`run the completion contract${runs}`;
  return {
    what: verdict === 'FAIL' ? t`Repair what the verification found` : t`Prove what is done`,
    // What has failed is broken; what was never proven, or has changed since, is not.
    of: verdict === 'FAIL' ? 'broken' : 'method',
    why: verdict === 'FAIL' ? t`it failed; then ${how}` : t`${so}; ${how}`,
    steps: asksUser
      ? [
          { ...first, why: t`The user runs` },
          { ...RUN, why: t`Then call` },
        ]
      : [verdict === 'FAIL' ? { ...RUN, why: t`When it is repaired` } : RUN],
    optional: false,
    evidence: [],
  };
}

type Completion = Awaited<ReturnType<ProjectState['completion']>>;
type Known = Awaited<ReturnType<Completion['standing']>>;

function wayFrom(
  way: Known['way'],
  root: string,
  { confirm, typed }: Pick<Call, 'confirm' | 'typed'>,
  again: string,
): Way {
  if (way.may === 'run')
    return {
      contract: 'may run',
      why: again,
      steps: [RUN],
    };
  if (way.may === 'never')
    return {
      contract: 'forbidden',
      why: t`no project may run its programs here, the setting trust is "never" (${way.from})`,
      steps: [],
    };
  if (way.may === 'nothing')
    return {
      contract: 'nothing to run',
      why: t`there is no contract script, and no stack to check without one`,
      steps: [RUN],
    };
  const trusting = { operation: 'trust', args: { folder: root } };
  // At a command line the reader may be the one who decides.
  if (typed === true && confirm === undefined)
    return {
      contract: 'waits for a person',
      why: way.changed
        ? t`what the completion contract runs has changed, and only a person can allow it`
        : t`only a person can allow the completion contract`,
      steps: [{ ...trusting, why: t`To allow it` }],
    };
  return confirm !== undefined
    ? {
        contract: 'waits for a person',
        why: way.changed
          ? t`what the completion contract runs has changed, and the user is asked when the completion contract is called`
          : t`the user is asked when the completion contract is called`,
        steps: [RUN],
      }
    : {
        contract: 'waits for a person',
        why: way.changed
          ? t`what the completion contract runs has changed, and only the user can allow the completion contract, so tell them`
          : t`only the user can allow the completion contract, so tell them`,
        steps: [{ ...trusting, why: t`To allow it, for the user; then call this again` }],
      };
}
