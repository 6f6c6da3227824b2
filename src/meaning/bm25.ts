/** The parts of BM25 that every word search here shares; what a text is, and how long it usually is, differs. */

/** How much a word tells that so many of all texts have; never negative. */
export function rarity(having: number, texts: number): number {
  return Math.log(1 + (texts - having + 0.5) / (having + 0.5));
}

/** How much longer a text counts than a usual one: `b` from 0, not at all, to 1, fully. */
export function lengthNorm(length: number, usual: number, b: number): number {
  return 1 - b + (b * length) / usual;
}

/** A word that comes often counts more than once, but ever less: 1 for once in a text of usual length. */
export function saturated(times: number, k1: number, norm: number): number {
  return (times * (k1 + 1)) / (times + k1 * norm);
}
