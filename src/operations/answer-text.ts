import { t, say } from '../base/text/message.ts';
import { those } from '../base/values.ts';
import { estimateTokens } from '../base/text/text-budget.ts';
import type { Answer } from './operation.ts';
import type { Detail } from './fields.ts';
import { BmadError } from '../base/errors.ts';
import type { Step } from '../base/step.ts';
import type { Workspace } from './context.ts';

/** The call for the next part of an answer that has more parts. */
export function nextPart(cursor: string | undefined, why = t`Read the next part`): Answer['again'] {
  return cursor === undefined ? undefined : { args: { cursor }, why };
}

/** The answer of an operation whose data says all there is to say. */
export function asData(data: object): Answer {
  return { body: JSON.stringify(data) };
}

/** What the texts of answers are made of. */

export function lines(...parts: (string | readonly string[] | false | undefined)[]): string {
  return those(...parts)
    .filter((part) => part !== '')
    .join('\n');
}

/** `5 agents, ~197 tokens`, for those who ask for everything. */
export function sized(text: string, body: string, detail: Detail): string {
  return detail === 'full' ? `${text}, ~${estimateTokens(body)} tokens` : text;
}

/** `decisions 3, failures 1`. */
export function countsText(table: Readonly<Record<string, number>>): string {
  return Object.entries(table)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');
}

/** A list under its title, cut after so many entries; nothing where it is empty. */
export function titledList(title: string, entries: readonly string[], most: number): string[] {
  if (entries.length === 0) return [];
  const more = entries.length - most;
  return [
    t`${title}:`,
    ...entries.slice(0, most).map((entry) => `- ${entry}`),
    ...(more > 0 ? [t`- and ${more} more`] : []),
  ];
}

export function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}

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
