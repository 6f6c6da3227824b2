import { BmadError } from '../../base/errors.ts';
import type { Step } from '../../base/step.ts';
import { say, t } from '../../base/text/message.ts';
import type { Workspace } from '../context.ts';

// What is not there because nothing is, or because its source has not been fetched: every answer says so in these words.

const WHERE_LOOKED: Record<string, string> = {
  local: 'No BMAD content was found: discovery is "local", so only the project itself is looked at.',
  user: 'No BMAD content was found: discovery is "user", so only the folders of the user are looked at.',
  strict: 'No BMAD content was found: discovery is "strict", so only git sources are used.',
};

/** That nothing was found at all, and which setting is the reason; nothing where there is content. */
export function noContent({ catalogue }: Workspace, discovery: string): string | undefined {
  if (catalogue.winners.length > 0) return undefined;
  return say(WHERE_LOOKED[discovery] ?? 'No BMAD content was found.');
}

/** What helps where nothing is there. */
export const WHY: Step = { operation: 'doctor', why: 'See why' };

/** What to say of git sources that have not been fetched, and how to learn why. */
export function absentWords(absent: readonly string[] = []): { note?: string; steps: Step[] } {
  if (absent.length === 0) return { steps: [] };
  const [only] = absent;
  return {
    note:
      absent.length === 1
        ? t`Not included: ${only}, which has not been fetched yet.`
        : t`Not included: ${absent.join(', ')}, which have not been fetched yet.`,
    steps: [WHY],
  };
}

/** The error about something that the content does not have: it may be in a git source, or nothing is here, and no list helps. */
export function withAbsence(error: BmadError, workspace: Workspace, discovery: string): BmadError {
  const { note, steps } = absentWords(workspace.absent);
  if (note === undefined) {
    const nothing = noContent(workspace, discovery);
    return nothing === undefined ? error : error.with({ hint: nothing, steps: [WHY] });
  }
  return error.with({
    hint: [error.hint, note].filter(Boolean).join(' '),
    steps: [...error.steps, ...steps],
  });
}
