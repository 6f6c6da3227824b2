import { nameKey } from '../../base/text/same-name.ts';
import type { KitCandidate } from './kit-index.ts';
import { dot, normalized, ranked, weighed } from './rank.ts';
import type { Recalled } from './recall.ts';
import { passes, readyFilter } from './select.ts';
import type { MemoryQuery } from './store.ts';

/** The entries of files, weighed by the same rules as those of the store. */
export function kitHits(
  kit: readonly KitCandidate[],
  { terms, ways, vector, filter, limit, minScore }: MemoryQuery,
  all: boolean,
): Recalled[] {
  const { agents, ...rest } = filter;
  const ready = readyFilter(rest);
  const wanted = agents === undefined || agents.length === 0 ? undefined : agents.map(nameKey);
  const bounded = filter.since !== undefined || filter.until !== undefined;
  const passing = kit.filter(
    ({ entry, names, dated }) =>
      passes(entry, ready) &&
      (dated || !bounded) &&
      (wanted === undefined || names.some((name) => wanted.includes(nameKey(name)))),
  );
  const wantedTerms = new Set(terms);
  const frequency = new Map<string, number>();
  for (const candidate of passing)
    for (const term of new Set(candidate.terms.filter((each) => wantedTerms.has(each))))
      frequency.set(term, (frequency.get(term) ?? 0) + 1);
  const words = weighed(terms, (term) => frequency.get(term) ?? 0, passing.length, ways);
  const sources = new Map(passing.map(({ entry, place }) => [entry, place]));
  const asked = vector === undefined ? undefined : normalized(vector);
  const candidates = passing.map(({ entry, terms: own, vector: other }) => ({
    entry,
    terms: own,
    cosine: asked === undefined || other === undefined ? undefined : dot(asked, other),
  }));
  return ranked(words, candidates, { compared: vector !== undefined, limit, minScore, all }).map((hit) => ({
    ...hit,
    sources: [sources.get(hit.entry) ?? ''],
    stored: false,
  }));
}
