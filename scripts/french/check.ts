/** A place for what comes in. */
const PLACES = /\{(?:n|\d+)\}/g;

/** A file of the catalogue: its name, and the French texts by the English ones. */
export type CatalogueFiles = Readonly<Record<string, Readonly<Record<string, string>>>>;

export interface Sources {
  /** Every text of the code, as a key. */
  all: ReadonlySet<string>;
  /** Those that people read, with a file that has each. */
  read: ReadonlyMap<string, string>;
  /** Those that people may see and that stay English all the same. */
  kept: readonly string[];
}

/** Everything that is wrong with the catalogue, one line each. */
export function problemsOf(files: CatalogueFiles, { all, read, kept }: Sources): string[] {
  const known = new Map<string, string>();
  const problems: string[] = [];
  for (const [file, entries] of Object.entries(files))
    for (const [english, french] of Object.entries(entries)) {
      const before = known.get(english);
      if (before !== undefined) problems.push(`${file}: also in ${before}: ${english}`);
      known.set(english, file);
      problems.push(...entryProblems(english, french).map((problem) => `${file}: ${problem}: ${english}`));
    }
  const stays = new Set(kept);
  for (const [english, file] of read)
    if (!known.has(english) && !stays.has(english)) problems.push(`missing (${file}): ${english}`);
  for (const [english, file] of known) if (!all.has(english)) problems.push(`${file}: unused: ${english}`);
  for (const english of kept) {
    if (!all.has(english)) problems.push(`kept.json: unused: ${english}`);
    if (known.has(english)) problems.push(`kept.json: has a French text: ${english}`);
  }
  return problems;
}

const placesOf = (text: string): string =>
  [...new Set(text.match(PLACES))].sort((one, other) => (one < other ? -1 : 1)).join(' ');

function entryProblems(english: string, french: string): string[] {
  const plain = french.replaceAll(/"[^"]*"/g, '');
  return [
    ...(placesOf(english) === placesOf(french) ? [] : ['the places differ']),
    ...(french.trim() === '' ? ['empty'] : []),
    ...(/\p{L}'\p{L}/u.test(plain) ? ['a straight apostrophe'] : []),
    ...(/ [:;!?»%](?!\/)/.test(plain) || /« /.test(plain) ? ['a plain space where none may break'] : []),
  ];
}
