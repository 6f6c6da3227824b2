import { ours } from '../../base/expected.ts';
import type { Step } from '../../base/step.ts';
import type { Call, ProjectState } from '../context.ts';
import type { Action, Verification } from './next-actions.ts';

type Way = Pick<Verification, 'contract' | 'steps'> & { why: string };

const RUN: Step = { operation: 'run_completion_contract', args: {}, why: 'Verify the work' };

/** How work that is done or waits for review has been verified, and who can do what about it. */
export async function verificationOf(
  state: ProjectState,
  { confirm, signal }: Pick<Call, 'confirm' | 'signal'>,
  { built, ...reviews }: Reviews & { built: boolean },
): Promise<Verification | undefined> {
  const completion = await state.completion();
  const known = await completion.standing().catch(ours(({ message }) => message));
  if (typeof known === 'string')
    return !built
      ? undefined
      : {
          verdict: 'none',
          contract: 'unknown',
          says: `It is not known whether anything was verified: ${known}`,
          steps: [],
        };
  const { last, way } = known;
  const would = way.may === 'run' || way.may === 'ask' ? way.commands : [];
  const isPassed = last?.status === 'PASS';
  const since = built && isPassed ? await completion.since(signal).catch(ours(() => undefined)) : undefined;
  const outdated = since && outdatedText(since);
  const again =
    last === undefined
      ? 'the completion contract has not been run'
      : isPassed
        ? reviews.waiting > 0
          ? 'run the contract again after the review'
          : 'run the contract again'
        : 'repair it and run the contract again';
  const { why, contract, steps } = wayFrom(way, state.root, confirm !== undefined, again);
  // Before anything is built there is one thing to know: what the user is asked for at the end can be given now.
  if (!built)
    return way.may !== 'ask' || confirm !== undefined
      ? undefined
      : {
          verdict: 'none',
          contract,
          says: 'Only the user can allow the completion contract, which proves that a story is done, so tell them now.',
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
      says: `The project was ${outdated}: ${why}.`,
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
        ? `Last verified ${last.started}: contract PASS (${last.id}).`
        : `Last verified ${last.started}: contract PASS (${last.id}). Whether files have changed since was not compared.`,
      steps: [],
    };
  }
  return {
    verdict: last?.status ?? 'none',
    ...(last === undefined ? {} : { receipt: last.id }),
    contract,
    ...runs,
    says: [
      `${last === undefined ? 'Nothing has been verified' : `The last verification failed (${last.id})`}: ${why}.`,
      ...ruleLine(reviews),
    ].join('\n'),
    steps,
  };
}

type Since = NonNullable<Awaited<ReturnType<Completion['since']>>>;

/** What has changed since a PASS, after which it proves nothing; nothing where nothing is known to have changed. */
function outdatedText({ pass: { id, started }, files, contract }: Since): string | undefined {
  const day = started.slice(0, 10);
  if (files === 'changed') return `proven on ${day} (${id}), but files have changed since`;
  return contract === 'changed' ? `proven on ${day} (${id}), but the contract has changed since` : undefined;
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
      `By BMAD's own rule, the gate PASS of story ${first} is enough to set it to Done; it is proven when the completion contract passes.`,
    ];
  return waiting === 0
    ? []
    : ['A story is done when its review passes, and proven when the completion contract passes.'];
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
    outdated ?? (unseen === 0 ? 'it is built and reviewed, but not proven' : 'it is built, but not proven');
  const runs = would.length === 0 ? '' : ` (it runs ${would.join(', ')})`;
  const how = asksUser
    ? `the user has to allow the completion contract${runs}`
    : `run the completion contract${runs}`;
  return {
    what: 'Prove what is done',
    // What has failed is broken; what was never proven, or has changed since, is not.
    of: verdict === 'FAIL' ? 'broken' : 'method',
    why:
      verdict === 'FAIL'
        ? `the last verification failed; repair what it found, then ${how}`
        : `${so}; ${how}`,
    steps: asksUser
      ? [
          { ...first, why: 'The user runs' },
          { ...RUN, why: 'Then call' },
        ]
      : [RUN],
    optional: false,
    evidence: [],
  };
}

type Completion = Awaited<ReturnType<ProjectState['completion']>>;
type Known = Awaited<ReturnType<Completion['standing']>>;

function wayFrom(way: Known['way'], root: string, canAsk: boolean, again: string): Way {
  if (way.may === 'run')
    return {
      contract: 'may run',
      why: again,
      steps: [RUN],
    };
  if (way.may === 'never')
    return {
      contract: 'forbidden',
      why: `no project may run its programs here, the setting trust is "never" (${way.from})`,
      steps: [],
    };
  if (way.may === 'nothing')
    return {
      contract: 'nothing to run',
      why: 'there is no contract script, and no stack to check without one',
      steps: [RUN],
    };
  const changed = way.changed ? 'what the completion contract runs has changed, and ' : '';
  return canAsk
    ? {
        contract: 'waits for a person',
        why: `${changed}the user is asked when the completion contract is called`,
        steps: [RUN],
      }
    : {
        contract: 'waits for a person',
        why: `${changed}only the user can allow the completion contract, so tell them`,
        steps: [
          {
            operation: 'trust',
            args: { folder: root },
            why: 'To allow it, for the user; then call this again',
          },
        ],
      };
}
