import { t } from '../base/text/message.ts';
import { those } from '../base/values.ts';
import { estimateTokens } from '../base/text/text-budget.ts';
import type { Answer } from './operation.ts';
import type { Detail } from './fields.ts';

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
