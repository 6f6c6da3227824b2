const WORDS =
  'queue cache harbour schema payment retry index worker ledger tenant region shard token budget'.split(' ');

/** Words of a project, the same on every run for the same seed. */
export function madeWords(seed: number, length: number): string {
  return Array.from({ length }, (_, index) => WORDS[(seed * 7 + index * (seed + 3)) % WORDS.length]).join(
    ' ',
  );
}
