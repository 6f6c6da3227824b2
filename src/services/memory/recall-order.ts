import { localDay } from '../../base/text/local-time.ts';
import { oneLine } from '../../base/text/text.ts';
import { isSettled } from './both-hold.ts';
import type { Recalled } from './recall.ts';
import { relationOf } from './relation.ts';

/** Scores this near to each other say nothing about which of two hits is the better answer. */
const NEARLY = 0.08;

/** Which of two dates is later; nothing where that cannot be told: one is missing, or says the day alone. */
export function laterOf(first: string, second: string): 'first' | 'second' | undefined {
  const [one, other] = [new Date(first), new Date(second)];
  if ([first, second].some((date) => date.startsWith('1970')) || first === second) return undefined;
  const isDay = (date: Date): boolean =>
    date.getTime() % 86_400_000 === 0 ||
    (date.getHours() === 0 && date.getMinutes() === 0 && date.getSeconds() === 0);
  if (localDay(one) === localDay(other) && (isDay(one) || isDay(other))) return undefined;
  return other > one ? 'second' : 'first';
}

/**
 * Of two hits that are about equally good and may contradict each other, the newer first: the older one may be what was
 * decided against. A hint, not a judgement, so both stay; the first such pair is told of, whatever their scores are.
 */
export function newerFirst(
  hits: readonly Recalled[],
  terms: (text: string) => readonly string[],
  shown: (text: string) => string,
): { hits: Recalled[]; note: string | undefined } {
  const ordered = [...hits];
  let note: string | undefined;
  for (let at = 0; at + 1 < ordered.length; at++) {
    const [first, second] = [ordered[at], ordered[at + 1]];
    if (first === undefined || second === undefined) continue;
    const later = laterOf(first.entry.updatedAt, second.entry.updatedAt);
    const isLater = later === 'second';
    const [older, newer] = isLater ? [first, second] : [second, first];
    const said = ({ entry: { type, text } }: Recalled) => ({ type, text, terms: terms(text) });
    if (newer.entry.type !== older.entry.type) continue;
    if (relationOf(said(newer), said(older), undefined) !== 'may contradict') continue;
    if (isSettled(newer.entry, older.entry)) continue;
    if (later !== undefined && first.score - second.score <= NEARLY * first.score)
      ordered.splice(at, 2, newer, older);
    if (note !== undefined) continue;
    // Masked before it is cut: half a secret is no longer known as one.
    const [now, before] = [newer, older].map(({ entry }) => oneLine(shown(entry.text), 80));
    note =
      later === undefined
        ? `"${now ?? ''}" and "${before ?? ''}" may contradict each other.`
        : `"${now ?? ''}" is newer than "${before ?? ''}" and may contradict it.`;
  }
  return { hits: ordered, note };
}
