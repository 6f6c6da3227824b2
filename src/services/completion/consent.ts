import { BmadError } from '../../base/errors.ts';
import { visible } from '../../base/text/hidden.ts';
import type { ConfirmRequest, Confirmed } from '../../model/confirmation.ts';
import { programLines, shownCommands, type Programs } from './programs.ts';
import { recordTrust, standingOf, type Standing, type TrustPolicy } from './trust.ts';

export type Confirm = (request: ConfirmRequest) => Promise<Confirmed>;

/**
 * Lets the programs of a project run only if a person has allowed them, now or before. Asks where somebody can be asked, and
 * remembers a yes for these very programs.
 */
export async function requireConsent(
  programs: Programs,
  policy: TrustPolicy,
  state: string,
  confirm: Confirm | undefined,
  typed?: true,
): Promise<void> {
  const standing = await standingOf(programs, policy, state);
  if (standing.allowed) return;
  if (policy.rule === 'never')
    throw new BmadError('forbidden', 'NOT_VERIFIED: no project may run its programs here.', {
      hint: `The setting trust is "never" (${policy.from}).`,
    });
  const answer = await confirm?.(consentQuestion(programs, standing));
  if (answer?.yes !== true) throw refusal(programs, standing, answer, typed === true);
  await recordTrust(programs, state);
}

/** What a run would start, whether it may, and the way to allow it. */
export interface Consent {
  root: string;
  /** What would run, in lines for people. */
  lines: string[];
  script: string | undefined;
  /** Nothing would be started at all. */
  empty: boolean;
  allowed: boolean;
  question: ConfirmRequest;
  record(): Promise<unknown>;
}

export async function consentOf(programs: Programs, policy: TrustPolicy, state: string): Promise<Consent> {
  // A person who allows it by hand decides about the project, whatever the rule is.
  const standing = await standingOf(programs, { ...policy, rule: 'ask', folders: [] }, state);
  return {
    root: programs.root,
    lines: programLines(programs, standing.allowed ? [] : standing.changed),
    script: programs.script,
    empty: programs.commands.length === 0,
    allowed: standing.allowed,
    question: consentQuestion(programs, standing),
    record: () => recordTrust(programs, state),
  };
}

/** The question whether the programs of a project may run. */
function consentQuestion(programs: Programs, standing: Standing): ConfirmRequest {
  const changed = standing.allowed ? undefined : standing.changed;
  return {
    question:
      changed === undefined
        ? 'May this project run its own programs on this machine?'
        : 'What this project runs has changed. May it run on this machine?',
    details: [
      `Folder: ${visible(programs.root)}`,
      ...programLines(programs, changed),
      'They run with your rights: allow it only if you trust their author.',
    ].join('\n'),
    text: programs.script,
    yes: 'Allow it until the scripts change',
  };
}

function trustArguments({ root, folder }: Programs): Record<string, string> {
  return { folder: root, ...(folder === '' ? {} : { working_dir: folder }) };
}

function refusal(
  programs: Programs,
  standing: Exclude<Standing, { allowed: true }>,
  answer: Exclude<Confirmed, { yes: true }> | undefined,
  typed: boolean,
): BmadError {
  const what =
    standing.changed === undefined
      ? "NOT_VERIFIED: this project's programs have not been allowed to run on this machine"
      : `NOT_VERIFIED: what this project runs has changed since it was allowed (${standing.changed.join(', ')})`;
  return new BmadError('forbidden', `${what}${answer === undefined ? '' : `, and ${answer.why}`}.`, {
    subject: programs.root,
    hint: refusalHint(programs, typed, answer !== undefined),
    steps: [{ operation: 'trust', args: trustArguments(programs), why: 'Show what would run, and decide' }],
  });
}

/** A model is told to tell the user; at a command line the reader may be that user, or an agent with a shell. */
function refusalHint(programs: Programs, typed: boolean, asked: boolean): string {
  if (!typed)
    return `Nothing was run. It would run: ${shownCommands(programs).join(', ')}. A person has to allow it first: tell the user now, and do not try to get around it. Until PASS, what is done counts as done, unproven.`;
  return asked
    ? 'Nothing was run.'
    : 'Nothing was run. Only a person may allow it: a program or an agent must not try to get around it.';
}
