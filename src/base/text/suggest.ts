/** Longer names are searched for by their beginning only, so that input cannot make the search slow. */
const COMPARED_LENGTH = 64;

/** The known names closest to a wrong one, best first; nothing when none is close. */
export function nearest(wrong: string, known: Iterable<string>, count = 3): string[] {
  const target = fold(wrong).slice(0, COMPARED_LENGTH);
  if (target.length === 0) return [];
  const scored: { name: string; score: number }[] = [];
  const seen = new Set<string>();
  for (const name of known) {
    const folded = fold(name);
    if (seen.has(folded)) continue;
    seen.add(folded);
    const score = distanceScore(target, folded.slice(0, COMPARED_LENGTH));
    if (score !== undefined) scored.push({ name, score });
  }
  scored.sort((a, b) => a.score - b.score || a.name.localeCompare(b.name));
  return scored.slice(0, count).map((entry) => entry.name);
}

/** Most names are. */
const FOLDED = /^[a-z0-9./-]*$/;

/** Case, accents' encoding and separators do not count when names are compared. */
export function fold(name: string): string {
  if (FOLDED.test(name)) return name;
  return name
    .normalize('NFC')
    .toLowerCase()
    .replace(/[\s_]+/g, '-');
}

function distanceScore(target: string, candidate: string): number | undefined {
  if (candidate.length === 0) return undefined;
  // A name may be in another as whole words: `review` is in `story-review`, `build` is not in `agent-builder`.
  if (target.length >= 3 && (candidate.includes(target) || `-${target}-`.includes(`-${candidate}-`))) {
    return Math.abs(candidate.length - target.length) / 10;
  }
  const allowed = Math.max(1, Math.floor(Math.max(target.length, candidate.length) / 3));
  const distance = lettersApart(target, candidate, allowed);
  if (distance > allowed) return undefined;
  // A slip of one letter is nearer than a name that is one word of several.
  return distance === 1 ? SLIP : distance;
}

const SLIP = 0.4;

/**
 * How many letters have to be changed, added, left out or swapped to make one word of the other. Beyond `most` it is not
 * counted out.
 */
export function lettersApart(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const next = [row];
    let least = row;
    for (let column = 1; column <= b.length; column++) {
      const changed = (last[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      let cost = Math.min(changed, (last[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1);
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) cost = Math.min(cost, (before[column - 2] ?? 0) + 1);
      next.push(cost);
      least = Math.min(least, cost);
    }
    if (least > most) return most + 1;
    before = last;
    last = next;
  }
  return Math.min(last[b.length] ?? 0, most + 1);
}

const KEPT = 2_000;
const known = new Map<string, string>();

/** What two spellings of one name have in common: case does not count, nor which form of Unicode its letters have. */
export function nameKey(name: string): string {
  const found = known.get(name);
  if (found !== undefined) return found;
  const key = name.normalize('NFC').toLowerCase().normalize('NFC');
  if (known.size >= KEPT) known.clear();
  known.set(name, key);
  return key;
}
