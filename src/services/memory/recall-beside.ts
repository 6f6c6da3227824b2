import { lineText } from '../../kit/memories/line-files.ts';
import { isSettled } from './both-hold.ts';
import type { Recalled } from './recall.ts';
import { relationOf } from './relation.ts';

/** Of the hits that are shown, as many as are looked at for what may contradict them. */
const LOOKED_AT = 2;

interface Means {
  limit: number;
  terms(text: string): readonly string[];
  /** Whatever has some words, without copies. */
  about(terms: readonly string[]): Promise<readonly Recalled[]>;
}

/**
 * The best hits with what may contradict them beside them: whoever sees only one of two statements takes it for what holds.
 * The last ones make room for it.
 */
export async function withContradicted(
  hits: readonly Recalled[],
  { limit, terms, about }: Means,
): Promise<Recalled[]> {
  const placed = [...hits];
  if (limit < 2) return placed;
  const isOne = (a: Recalled, b: Recalled): boolean =>
    (a.entry.id === b.entry.id && a.entry.type === b.entry.type) ||
    lineText(a.entry.text) === lineText(b.entry.text);
  const said = ({ entry: { type, text } }: Recalled) => ({ type, text, terms: terms(text) });
  for (const hit of hits.slice(0, Math.min(LOOKED_AT, limit))) {
    const own = said(hit);
    const isAgainst = (other: Recalled): boolean =>
      other.entry.type === hit.entry.type &&
      !isOne(hit, other) &&
      !isSettled(hit.entry, other.entry) &&
      relationOf(own, said(other), undefined) === 'may contradict';
    const at = placed.indexOf(hit);
    if (placed.slice(0, limit).some(isAgainst)) continue;
    const other = placed.slice(limit).find(isAgainst) ?? (await about(own.terms)).find(isAgainst);
    if (other === undefined) continue;
    const before = placed.findIndex((each) => isOne(each, other));
    if (before >= 0) placed.splice(before, 1);
    placed.splice(at + 1, 0, other);
  }
  return placed;
}
