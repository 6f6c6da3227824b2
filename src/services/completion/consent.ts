import { BmadError } from '../../base/errors.ts';
import { visible } from '../../base/text/hidden.ts';
import type { ConfirmRequest, Confirmed } from '../../model/confirmation.ts';
import type { DecidedBy } from '../../model/decision.ts';
import { programLines, shownCommands, type Programs } from './programs.ts';
import { decidedOn, recordTrust, ruledOn, type Standing, type TrustSetup } from './trust.ts';

/** Who wants it to run. */
export interface Asking {
  /** Asks the person at the other end; not there where nobody can be asked. */
  confirm?: ((request: ConfirmRequest) => Promise<Confirmed>) | undefined;
  /** Whether it was typed at the command line. */
  typed?: true | undefined;
}

/**
 * Lets the programs of a project run only if a person has allowed them, now or before. Asks where somebody can be asked, and
 * remembers a yes for these very programs.
 */
export async function requireConsent(
  programs: Programs,
  setup: TrustSetup,
  { confirm, typed }: Asking,
  commit: string | undefined,
): Promise<void> {
  if (ruledOn(programs, setup)?.allowed === true) return;
  if (setup.trust.rule === 'never')
    throw new BmadError('forbidden', 'NOT_VERIFIED: no project may run its programs here.', {
      hint: `The setting trust is "never" (${setup.trust.from}).`,
    });
  const consent = await consentOf(programs, setup, commit);
  if (consent.allowed) return;
  const answer = await confirm?.(consent.question);
  if (answer?.yes !== true) throw refusal(programs, consent.changed, answer, typed === true);
  await consent.record(typed === true ? 'terminal' : 'host');
}

/** What a run would start, whether it may, and the way to allow it. */
export type Consent = Awaited<ReturnType<typeof consentOf>>;

/** A person who allows it by hand decides about the project, whatever the settings say. */
export async function consentOf(programs: Programs, setup: TrustSetup, commit: string | undefined) {
  const { root, digest, scripted } = programs;
  const isNothing = programs.commands.length === 0;
  const standing: Standing = isNothing
    ? { allowed: true }
    : await decidedOn(programs, setup, async () => commit);
  const changed = standing.allowed ? undefined : standing.changed;
  const lines = [
    `Folder: ${visible(root)}`,
    commit === undefined
      ? 'It is not in git: you are asked again only when something changes that is shown here.'
      : `Commit: ${commit}`,
    ...programLines(programs, { changed, texts: true }),
    RIGHTS,
    `Digest: ${digest}`,
  ];
  const question: ConfirmRequest = {
    question:
      changed === undefined
        ? 'May this project run its own programs on this machine?'
        : 'What this project runs has changed. May it run on this machine?',
    details: lines.join('\n'),
    yes: 'Allow what is shown here',
  };
  return {
    root,
    /** What would run, whole, in lines for the person who decides; the same wherever somebody is asked. */
    lines,
    summary: programLines(programs, { changed, texts: false }),
    digest,
    commit,
    scripted,
    empty: isNothing,
    allowed: standing.allowed,
    changed,
    question,
    /** Notes a yes to what was read here. */
    record: (via: DecidedBy, by = personIn(setup)) => recordTrust(programs, commit, setup, { by, via }),
  };
}

const RIGHTS =
  'All of the project’s own code can run then, with your rights, and not only what is shown here. Allow it only if you trust its author.';

/** The user as the system names them. */
export const personIn = ({ env }: Pick<TrustSetup, 'env'>): string =>
  env['USER'] ?? env['LOGNAME'] ?? env['USERNAME'] ?? 'unknown';

function trustArguments({ root, folder }: Programs): Record<string, string> {
  return { folder: root, ...(folder === '' ? {} : { working_dir: folder }) };
}

function refusal(
  programs: Programs,
  changed: readonly string[] | undefined,
  answer: Exclude<Confirmed, { yes: true }> | undefined,
  typed: boolean,
): BmadError {
  const what =
    changed === undefined
      ? "NOT_VERIFIED: this project's programs have not been allowed to run on this machine"
      : `NOT_VERIFIED: what this project runs has changed since it was allowed (${changed.join(', ')})`;
  return new BmadError('forbidden', `${what}${answer === undefined ? '' : `, and ${answer.why}`}.`, {
    subject: programs.root,
    hint: refusalHint(programs, typed, answer !== undefined),
    steps: [{ operation: 'trust', args: trustArguments(programs), why: 'Show what would run, and decide' }],
  });
}

/** A model is told to tell the user; at a command line the reader may be that user, or an agent with a shell. */
function refusalHint(programs: Programs, typed: boolean, asked: boolean): string {
  if (!typed)
    return `Nothing was run. It would run: ${shownCommands(programs).join(', ')}. A person has to allow it first: tell the user now, and do not try to get around it. A story is done when its review passes, and proven when the completion contract passes.`;
  return asked
    ? 'Nothing was run.'
    : 'Nothing was run. Only a person may allow it: a program or an agent must not try to get around it.';
}
