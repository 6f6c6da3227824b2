import type { MemoryHit } from '../../../model/memory.ts';
import { fused, ranked, wordsIn, type Candidate, type QueryWords, type Words } from '../rank.ts';
import type { KeptRow } from './kept-rows.ts';
import type { Nearest } from './matrix.ts';

interface Weighing {
  words: QueryWords;
  limit: number;
  minScore: number | undefined;
  /** Memories by their row. */
  rows(rids: readonly number[]): ReadonlyMap<number, KeptRow>;
  /** How near they are, exactly; only where vectors are compared. */
  cosines?: ((rids: readonly number[]) => ReadonlyMap<number, number>) | undefined;
}

interface Bounded {
  rid: number;
  row: KeptRow;
  words: Words;
  least: number;
  most: number;
}

/**
 * The best of the rows so far. To read a vector takes longer than to weigh words, and how near it is, is roughly known: it is read
 * only where the memory may be among the best.
 */
export function createWeighing({ words, limit, minScore, rows, cosines }: Weighing) {
  const seen = new Set<number>();
  const candidates: Candidate[] = [];
  /** What a memory scores at least which is among the best so far. */
  let bar = -Infinity;

  function bounded(rid: number, row: KeptRow, bounds: Nearest['bounds'] | undefined): Bounded {
    const own = wordsIn(words, row.terms);
    const near = bounds?.(rid);
    const score = (cosine: number | undefined): number => fused(cosine, own.coverage, own.numbers);
    // With neither words nor a vector it is no hit at all.
    const least = near === undefined && own.matched.length === 0 ? -Infinity : score(near?.least);
    return { rid, row, words: own, least, most: score(near?.most) };
  }

  /** Weighs these beside those from before. */
  return (rids: readonly number[], bounds?: Nearest['bounds']): MemoryHit[] => {
    const fresh: Bounded[] = [];
    for (const [rid, row] of rows(rids.filter((each) => !seen.has(each)))) {
      seen.add(rid);
      fresh.push(bounded(rid, row, bounds));
    }
    if (bounds !== undefined && fresh.length > limit) {
      const least = Float64Array.from(fresh, (each) => each.least).sort();
      bar = Math.max(bar, least[least.length - limit] ?? -Infinity);
    }
    const hopeful = bounds === undefined ? fresh : fresh.filter(({ most }) => most >= bar);
    const near = cosines?.(hopeful.map(({ rid }) => rid));
    for (const { rid, row, words: own } of hopeful)
      candidates.push({ ...row, words: own, cosine: near?.get(rid) });
    return ranked(words, candidates, { compared: cosines !== undefined, limit, minScore });
  };
}
