import letters from '../../../assets/words/look-alike.json' with { type: 'json' };

/** Letters of other scripts that print like Latin ones, small letters only, and digits that do. */
const LATIN = new Map(
  Object.entries(letters).flatMap(([latin, others]) =>
    Array.from(others, (other) => [other, latin] as const),
  ),
);

/** What a name looks like: the same for two names that people take for each other. Accents are seen, so they count. */
export function looks(name: string): string {
  const plain = name.normalize('NFKC').toLowerCase();
  return Array.from(plain, (char) => LATIN.get(char) ?? char)
    .join('')
    .replaceAll(/[\s.]+/g, '-');
}
