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
