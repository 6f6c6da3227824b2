import { identifiersAsked, identifiersIn, isIdentifier, namesOne } from '../../meaning/identifiers.ts';
import type { Recalled } from './recall.ts';

/**
 * An identifier means one thing: what names it comes first, and where nothing else was asked for, alone. What merely
 * shares its letters, such as the story before it, would be taken for the answer.
 */
export function byIdentifier(
  query: string,
  hits: readonly Recalled[],
): { hits: Recalled[]; notes: string[] } {
  const wanted = identifiersIn(query);
  if (wanted.length === 0) return { hits: [...hits], notes: [] };
  const isNamed = ({ entry }: Recalled): boolean => namesOne([entry.text, ...entry.tags].join('\n'), wanted);
  const named = hits.filter(isNamed);
  const others = isIdentifier(query) ? [] : hits.filter((hit) => !isNamed(hit));
  const told = identifiersAsked(query).map((id) => id.toUpperCase());
  return {
    hits: [...named, ...others],
    notes: named.length > 0 ? [] : [`Nothing here names ${told.join(' or ')}.`],
  };
}
