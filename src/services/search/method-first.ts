import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { SearchHit } from './shelf.ts';

/** So well a hit of a module that lists leave out has to fit, alone and beside the best other, to come before it. */
const SURE = 0.9;
const CLEARLY = 1.2;
/** What its score counts for otherwise. */
const BEHIND = 0.8;

/**
 * The hits of the method and of what is installed, as they are without the further built-in modules, and those of these
 * modules among them. One of these comes first only where it fits clearly better: whoever asks for a developer has no
 * game in mind.
 */
export function methodFirst(
  own: readonly SearchHit[],
  all: readonly SearchHit[],
  { beside }: Catalogue,
): SearchHit[] {
  const isBeside = ({ record }: SearchHit): boolean => beside.has(record.origin);
  const best = Math.max(0, ...all.flatMap((hit) => (isBeside(hit) ? [] : [hit.score])));
  const isAhead = ({ score, weak }: SearchHit): boolean => !weak && score >= SURE && score >= best * CLEARLY;
  const further = all.filter(isBeside);
  const merged = further.filter((hit) => own.length === 0 || isAhead(hit));
  const behind = further.filter((hit) => !merged.includes(hit));
  const fits = (hit: SearchHit): boolean => {
    const [next] = behind;
    return next !== undefined && next.score * BEHIND > hit.score && (hit.weak || !next.weak);
  };
  /** The score that is shown is the one that has put it there. */
  const follow = (hit: SearchHit): void => {
    merged.push({ ...hit, score: Math.min(hit.score * BEHIND, merged.at(-1)?.score ?? hit.score) });
  };
  for (const [place, hit] of own.entries()) {
    // The first place is taken by what fits clearly better, or by none of them.
    if (place > 0) while (fits(hit)) behind.splice(0, 1).forEach(follow);
    merged.push(hit);
  }
  behind.forEach(follow);
  return merged;
}
