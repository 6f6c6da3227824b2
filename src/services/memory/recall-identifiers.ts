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

/** Words that are written as names are: `Kubernetes` inside a sentence, `PostgreSQL`, `k3s`. */
export const NAME =
  /(?<=[\p{Ll},:] )\p{Lu}[\p{L}\p{N}]{2,40}|\b\p{L}{1,20}\p{N}[\p{L}\p{N}]{0,20}|\b\p{L}\p{Ll}{1,20}\p{Lu}\p{L}{0,20}/gu;

/** Every vector is somehow near to every other; below this, without a common word, it is by chance. */
export const LEAST_MEANING = 0.1;
/** From here on, the meaning alone is as good a reason as a name; measured, see docs/decisions/0068. */
const TELLING_MEANING = 0.3;

/** Whether something has not been found yet, or only by a meaning that says little. */
export function isFaint(known: Recalled | undefined): boolean {
  return known === undefined || (known.matched.length === 0 && (known.cosine ?? 0) < TELLING_MEANING);
}

/** A text with more words than this is about many things. */
export const TELLING_TERMS = 15;
/** Below this, the best hit is more likely chance than knowledge; measured, see docs/decisions/0021. */
export const WEAK = { semantic: 0.4, local: 0.35 };
