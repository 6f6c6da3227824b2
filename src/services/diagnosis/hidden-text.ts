import { plural, t } from '../../base/text/message.ts';
import { orElse } from '../../base/expected.ts';
import { quoted } from '../../base/errors.ts';
import { breath } from '../../base/pace.ts';
import { changeMark } from '../../base/files/file-stamps.ts';
import { push } from '../../base/grouped.ts';
import { hiddenIn, visible } from '../../base/text/hidden.ts';
import { looks } from '../../base/text/look-alike.ts';
import { fold } from '../../base/text/suggest.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { qualifiedName, shortName, STARTABLE, type BmadRecord } from '../../model/record.ts';
import type { Finding } from './findings.ts';

/** What models read as text. */
const TEXT = /\.(?:md|markdown|mdc|txt|ya?ml|json|toml|xml|csv|tsv|html?)$/i;
/** More are counted, not named: a list of thousands would hide the first. */
const NAMED_FILES = 50;
const NAMED_PLACES = 5;

/** One finding for each file with characters that no eye sees. BMAD's own content is checked when it is built. */
export async function hiddenCharacters(
  { sources, records, files }: Catalogue,
  checked: CheckedFiles,
  signal?: AbortSignal,
): Promise<Finding[]> {
  const found: string[] = [];
  for (const source of sources) {
    const { origin, tree } = source;
    if (origin.kind === 'package') continue;
    const told = new Set<string>();
    for (const path of await files.of(source).catch(orElse<readonly string[]>([]))) {
      await breath();
      signal?.throwIfAborted();
      const inside = TEXT.test(path) ? await hiddenInFile(tree, path, checked) : '';
      const what = [
        ...(hiddenIn(path).length > 0 ? [t`in its name`] : []),
        ...(inside === '' ? [] : [inside]),
      ];
      if (what.length === 0) continue;
      told.add(path);
      found.push(
        t`${visible(origin.displayName)}: ${quoted(path)} has hidden characters: ${what.join('; ')}.`,
      );
    }
    // A name may come from a manifest that is no content.
    for (const { name, bmadRelativePath: path, disguised } of records.filter((one) => one.origin === origin))
      if (disguised !== undefined && !told.has(path))
        found.push(
          t`${visible(origin.displayName)}: ${quoted(path)} (${visible(name)}) has hidden characters: in its ${disguised.join(', ')}.`,
        );
  }
  const shown = found.slice(0, NAMED_FILES);
  const more = found.length - shown.length;
  return [...shown, ...(more > 0 ? [t`${plural(more, 'more file')} with hidden characters.`] : [])].map(
    (text) => ({
      level: 'notice' as const,
      about: 'hidden-characters' as const,
      text: t`${text} Lists leave them out; models get the file as it is.`,
    }),
  );
}

/** What was found in files before, by their places: kept for as long as a file has the same mark. */
export type CheckedFiles = Map<string, { mark: string; found: string }>;

const MOST_CHECKED = 200_000;

async function hiddenInFile(
  tree: Catalogue['sources'][number]['tree'],
  path: string,
  checked: CheckedFiles,
): Promise<string> {
  const place = tree.place(path);
  // Whoever keeps what is found here has to hear of every file, also of those that are not read again.
  await tree.modified(path);
  // The mark first: what changes while the file is read is seen the next time.
  const mark = changeMark(place);
  const known = checked.get(place);
  if (known !== undefined && known.mark === mark) return known.found;
  const text = await tree.text(path).catch(orElse(''));
  const found = hiddenIn(text).length > 0 ? placesIn(text) : '';
  if (checked.size >= MOST_CHECKED) checked.clear();
  if (mark !== undefined) checked.set(place, { mark, found });
  return found;
}

/** `\u200b in line 3, \u{e0041} in line 9 and 4 more`. */
function placesIn(text: string): string {
  const found = hiddenIn(text);
  let line = 1;
  let from = 0;
  const places = found.slice(0, NAMED_PLACES).map(({ char, at }) => {
    for (; from < at; from += 1) if (text[from] === '\n') line += 1;
    return t`${char} in line ${line}`;
  });
  const more = found.length - places.length;
  return `${places.join(', ')}${more > 0 ? t` and ${more} more` : ''}`;
}

/** Names that people take for another one that is there: letters of another script, digits for letters. */
export function lookAlikes({ records }: Catalogue): Finding[] {
  const byLook = new Map<string, Named[]>();
  for (const record of records.filter(({ kind, exists }) => exists && STARTABLE.includes(kind)))
    for (const name of new Set([shortName(record.name), record.displayName ?? record.name])) {
      push(byLook, looks(name), { record, name });
    }
  return [...byLook.values()].flatMap((alike) => {
    // What everybody has is the real one: the built-in content, then whatever is written in plain letters.
    const [real, ...others] = [...alike].sort((a, b) => suspicion(a) - suspicion(b));
    if (real === undefined) return [];
    return others
      .filter(({ record, name }) => record.origin.kind !== 'package' && !isSame(name, real.name))
      .map((one) => ({ level: 'notice' as const, about: 'look-alike' as const, text: likeText(one, real) }));
  });
}

interface Named {
  record: BmadRecord;
  name: string;
}

function likeText({ record, name }: Named, real: Named): string {
  return t`${visible(record.origin.displayName)}: ${quoted(name)} (${spelt(name, real.name)}), the ${record.kind} in ${quoted(record.bmadRelativePath)}, looks like ${quoted(real.name)}, the ${real.record.kind} ${quoted(qualifiedName(real.record))} of ${visible(real.record.origin.displayName)}, but is not.`;
}

/** Another case, or a dash for a space, is no disguise. */
function isSame(one: string, other: string): boolean {
  return fold(one) === fold(other);
}

function suspicion({ record, name }: Named): number {
  return (record.origin.kind === 'package' ? 0 : 2) + (/^[ -~]*$/.test(name) ? 0 : 1);
}

/** The characters that tell the one from the other, which cannot be seen otherwise. */
function spelt(name: string, real: string): string {
  const odd = Array.from(new Set(name)).filter((char) => !real.includes(char));
  return odd
    .slice(0, NAMED_PLACES)
    .map((char) => `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`)
    .join(' ');
}
