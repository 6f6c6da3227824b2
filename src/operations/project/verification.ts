import { UNPROVEN } from '../completion/done-rule.ts';
import { ours } from '../../base/expected.ts';
import type { Step } from '../../base/step.ts';
import type { Call, ProjectState } from '../context.ts';
import type { Action, Verification } from './next-actions.ts';

type Way = Pick<Verification, 'contract' | 'steps'> & { why: string };

const RUN: Step = { operation: 'run_completion_contract', args: {}, why: 'Verify the work' };

/** How work that is done or waits for review has been verified, and who can do what about it. */
export async function verificationOf(
  state: ProjectState,
  { confirm }: Call,
  { built, ...reviews }: Reviews & { built: boolean },
): Promise<Verification | undefined> {
  const known = await (await state.completion()).standing().catch(ours(({ message }) => message));
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
  const { why, contract, steps } = wayFrom(way, state.root, confirm !== undefined, last !== undefined);
  // Before anything is built there is one thing to know: what the user is asked for at the end can be given now.
  if (!built)
    return way.may !== 'ask' || confirm !== undefined
      ? undefined
      : {
          verdict: 'none',
          contract,
          says: 'The completion contract, which proves that a story is done, waits for the user: tell them now.',
          steps,
        };
  if (last?.status === 'PASS')
    return {
      verdict: 'PASS',
      receipt: last.id,
      contract,
      says: `Last verified ${last.started}: contract PASS (${last.id}).`,
      steps: [],
    };
  return {
    verdict: last?.status ?? 'none',
    ...(last === undefined ? {} : { receipt: last.id }),
    contract,
    ...(would.length === 0 ? {} : { would }),
    says: [
      `${last === undefined ? 'Nothing has been verified' : `The last verification failed (${last.id})`}: ${why}.`,
      ...ruleLine(reviews),
    ].join('\n'),
    steps,
  };
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
    return [`By BMAD's own rule, the gate PASS of story ${first} is enough to set it to Done; ${UNPROVEN}.`];
  return waiting === 0 ? [] : [`One rule for done: a review that passes sets a story to done; ${UNPROVEN}.`];
}

/** The step that is left where everything is built: until it is taken, what is done is not proven. */
export function provingAction(
  { verdict, contract, steps, would = [] }: Verification,
  { done_without_review: unseen }: { done_without_review: number },
): Action | undefined {
  if (verdict === 'PASS' || (contract !== 'may run' && contract !== 'waits for a person')) return undefined;
  const [first] = steps;
  const asksUser = first !== undefined && first.operation !== RUN.operation;
  const so = `${unseen === 0 ? 'built and reviewed' : 'built'}, not proven`;
  const runs = would.length === 0 ? '' : ` (it runs ${would.join(', ')})`;
  const how = asksUser
    ? `the user has to allow the completion contract${runs}: tell them, then call it`
    : `run the completion contract${runs}`;
  return {
    what: 'Prove what is done',
    why: verdict === 'FAIL' ? `the last verification failed: repair it, then ${how}` : `${so}: ${how}`,
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

type Known = Awaited<ReturnType<Awaited<ReturnType<ProjectState['completion']>>['standing']>>;

function wayFrom(way: Known['way'], root: string, canAsk: boolean, hasFailed: boolean): Way {
  if (way.may === 'run')
    return {
      contract: 'may run',
      why: hasFailed ? 'repair it and run the contract again' : 'the completion contract has not been run',
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
  const waits = way.changed
    ? 'what the completion contract runs has changed, and'
    : 'the completion contract waits, and';
  return canAsk
    ? { contract: 'waits for a person', why: `${waits} the user is asked when it is called`, steps: [RUN] }
    : {
        contract: 'waits for a person',
        why: `${waits} only the user can allow it: tell them`,
        steps: [{ operation: 'trust', args: { folder: root }, why: 'Show what would run, and decide' }],
      };
}
