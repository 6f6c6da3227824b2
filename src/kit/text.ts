import { headingIn, withoutExamples } from '../base/text/markdown.ts';
import { join } from 'node:path';
import { mayBeThere } from '../base/files/file-stamps.ts';
import { writeOnce } from '../base/files/file-state.ts';
import { t } from '../base/text/message.ts';
import { BmadError, expected, unlessMissing } from '../base/errors.ts';
import { readInside } from '../base/files/files.ts';
import { conflictsIn, conflictText } from '../base/text/diff.ts';
import { inProject, jailOf, type Kit, type KitWithMemory, OWN_FOLDER, strayRefusal } from './kit.ts';
import { utf8Text } from '../base/text/text.ts';

export const MAX_BYTES = 20_000_000;

/** The text of a file that is going to be rewritten; nothing when there is none. In another encoding it is left alone. */
export async function textToChange(kit: KitWithMemory, path: string): Promise<string | undefined> {
  const bytes = await readInside(kit.memory, path, MAX_BYTES).catch(unlessMissing);
  const text = bytes === undefined ? undefined : utf8Text(bytes);
  if (bytes === undefined || text !== undefined) return text;
  throw new BmadError('unavailable', t`${inProject(kit, path)} was left unchanged: it is not UTF-8.`, {
    subject: path,
    hint: t`Save the file as UTF-8, then try again.`,
  });
}

/**
 * The text of a file that is only read; problems are reported, and what can be read is returned. Of a conflict both sides are
 * read; in a list of JSON its reader does that, since the two together are no list.
 */
export async function textToRead(
  kit: Kit,
  path: string,
  problems: string[],
  root = kit.memory,
): Promise<string | undefined> {
  // Most are not there, and some are asked for with every call.
  if (root === undefined || !mayBeThere(join(root, path))) return undefined;
  const shown = root === kit.memory ? inProject(kit, path) : path;
  const bytes = await readInside(root, path, MAX_BYTES)
    .catch(unlessMissing)
    .catch(expected(({ message }) => void problems.push(`${shown}: ${message}`)));
  if (bytes === undefined) return undefined;
  const text = utf8Text(bytes);
  if (text === undefined) problems.push(t`${shown} is not UTF-8: some characters cannot be read.`);
  const all = (text ?? bytes.toString('utf8')).replace(/^\uFEFF/, '');
  const conflicts = conflictsIn(all);
  if (conflicts === undefined) return all;
  problems.push(`${conflictText(shown, conflicts)}.`);
  return path.endsWith('.json') ? all : conflicts.both;
}

/** What a person or a model wrote as one line of a file: it cannot begin a comment, a heading or another row there. */
export function asLine(text: string): string {
  return text.replace(/\s+/g, ' ').replaceAll('<!--', '&lt;!--').replaceAll('-->', '--&gt;').trim();
}

/** Who has it, is the only one to write the kit's files. */
export const kitLock = (folder: string): string => join(folder, 'kit-files.lock');

/** Runs `work` while no other code of ours, in this process or another, changes the files in the memory folder. */
export async function inTurn<T>(locks: string, work: () => Promise<T>): Promise<T> {
  const { takeTurn } = await import('./kit-turns.ts');
  return takeTurn(kitLock(locks), work, jailOf(locks));
}

/** The same lock as the memory's own, for writers that know the project only. */
export async function whileLocked<T>(kit: KitWithMemory, work: () => Promise<T>): Promise<T> {
  const folder = join(kit.memory, OWN_FOLDER);
  const stray = await strayRefusal(kit.memory, OWN_FOLDER, t`nothing was written`);
  if (stray !== undefined) throw stray;
  await writeOnce(join(folder, '.gitignore'), '*\n', kit.memory);
  return inTurn(folder, work);
}

/** `- [2026-02-10] text`, with `-` or `*`, with or without a date. */
export function bulletIn(line: string): { date?: string; text: string } | undefined {
  const [mark] = /^\s{0,3}[-*]\s/.exec(line) ?? [];
  if (mark === undefined) return undefined;
  const whole = line.slice(mark.length).trim();
  const [day = '', date] = /^\[(\d{4}-\d{2}-\d{2})[^\]]{0,20}\]/.exec(whole) ?? [];
  const text = whole.slice(day.length).trimStart();
  if (whole === '' || /^[-*_]{2,}$/.test(text || whole)) return undefined;
  return date === undefined || text === '' ? { text: whole } : { date, text };
}

/** The text of an entry that is struck through, since another has replaced it. */
export function struckText(text: string): string | undefined {
  return text.length > 4 && text.startsWith('~~') && text.endsWith('~~') ? text.slice(2, -2) : undefined;
}

/** The cells of a table row; undefined for the line between head and body, and for anything that is not a row. */
export function rowIn(line: string): string[] | undefined {
  const trimmed = line.trim();
  if (!trimmed.startsWith('|') || /^\|[\s|:-]*$/.test(trimmed)) return undefined;
  return trimmed
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((part) => part.replaceAll(String.raw`\|`, '|').trim());
}

/** `{{name}}`, which a template has for something that is not known yet. */
export const PLACEHOLDER = /\{\{[^{}]*\}\}/;

/** What a template leaves to be filled in. */
export function isUnset(text: string): boolean {
  // Nearly every sentence has a letter that none of these words has.
  if (/[f-knqsu-z]/i.test(text) && !/\*\*|\{\{/.test(text)) return false;
  const bare = text.replace(/\*\*[^*]*\*\*\s*:?/g, '').replace(/[-*|>[\]()\s]/g, '');
  return (
    bare === '' ||
    /^(?:—|–|…|àcompléter\.?|tobecompleted\.?|tbd|todo)+$/i.test(bare) ||
    PLACEHOLDER.test(bare)
  );
}

/** What a heading is about, in French and in English; the first that fits counts. */
const TOPICS = {
  requests: /requetes? inter-?agents?|inter-?agents? requests?/,
  agents: /equipe d'agents|agents custom|custom agents?|agents? team|^(?:les )?agents$/,
  stack: /^(?:stack|tech)\b|technology stack/,
  vigilance: /points? de vigilance|points? of attention|watch ?points?|known risks/,
  variables: /variables? d'environnement|environment variables?/,
  environment: /environnement local|local environment|development environment/,
  database: /base de donnees|databases?/,
  infrastructure: /^infrastructure/,
  architecture: /^architecture/,
  api: /^api\b/,
  decisions: /^(?:les )?decisions?\b/,
  conventions: /^conventions?/,
  project: /^(?:projet|project)\b/,
};

export type Topic = keyof typeof TOPICS;

/** A heading without accents, marks and case, with one kind of apostrophe: `équipe d’agents` is `equipe d'agents`. */
export function plainTitle(title: string): string {
  return title
    .normalize('NFD')
    .replace(/[\u0300-\u036F*_`#]/g, '')
    .replace(/[’‘ʼ]/g, "'")
    .replace(/[^\p{L}\p{N}'/ -]/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase();
}

export function topicOf(title: string): Topic | undefined {
  const plain = plainTitle(title);
  return (Object.keys(TOPICS) as Topic[]).find((topic) => TOPICS[topic].test(plain));
}

/** The line ends of a text, so that what is added to it has the same. */
export function lineEndOf(text: string): '\r\n' | '\n' {
  return /\r\n/.test(text) ? '\r\n' : '\n';
}

interface Heading {
  level: number;
  title: string;
}

/** A line that says there is nothing yet. */
interface Placeholder {
  is(line: string): boolean;
  /** Whether a text may have one at all, by a quick look. */
  mayBeIn(text: string): boolean;
}

/**
 * A text with lines added at the end of a section: before the rule or the blank lines that close it, and in place of a
 * line that says there is nothing yet. Undefined if there is no such section. The rest is preserved byte for byte. A section
 * may have thousands of lines, of which only the last ones are looked at.
 */
export function addToSection(
  text: string,
  isWanted: (heading: Heading) => boolean,
  added: readonly string[],
  { placeholder, gap = true }: { placeholder?: Placeholder; gap?: boolean } = {},
): string | undefined {
  const found = sectionIn(text, isWanted);
  if (found === undefined) return undefined;
  const end = lineEndOf(text);
  const head = text.slice(0, found.from);
  const body = text.slice(found.from, found.to);
  const cut = lengthOfEntries(body);
  const own = body.slice(0, cut);
  const isOpen = (line: string, index: number): boolean =>
    placeholder?.is(line) === true && !found.isExample(index, line);
  const kept = placeholder?.mayBeIn(own) === true ? withoutOpen(own, isOpen) : own;
  const last = kept.slice(kept.lastIndexOf('\n', kept.length - 2) + 1).trim();
  // A blank line would end a table.
  const goesOn = /^[-*]\s/.test(last) || (last.startsWith('|') && added[0]?.startsWith('|') === true);
  const rest = body.slice(cut) + text.slice(found.to);
  return [
    ...[head, kept].map((part) => (part === '' || part.endsWith('\n') ? part : `${part}${end}`)),
    gap || !goesOn ? end : '',
    ...added.map((line) => `${line}${end}`),
    rest === '' || /^[^\S\n]*(?:\n|$)/.test(rest) ? '' : end,
    rest,
  ].join('');
}

/** Up to the rule or the blank lines at the end. */
function lengthOfEntries(body: string): number {
  for (let cut = body.length; cut > 0;) {
    const from = cut < 2 ? 0 : body.lastIndexOf('\n', cut - 2) + 1;
    if (!/^\s*(?:-{3,}\s*)?$/.test(body.slice(from, cut))) return cut;
    cut = from;
  }
  return 0;
}

function withoutOpen(body: string, isOpen: (line: string, index: number) => boolean): string {
  const lines = body.split(/(?<=\n)/).filter((line, index) => !isOpen(line, index));
  while (lines.at(-1)?.trim() === '') lines.pop();
  return lines.join('');
}

/** Where the lines of a section begin, and where the next one does that is not below it. Examples have no headings. */
function sectionIn(text: string, isWanted: (heading: Heading) => boolean) {
  const plain = ['<!--', '```', '~~~'].some((mark) => text.includes(mark))
    ? withoutExamples(text)
    : undefined;
  let wanted: { level: number; from: number; line: number } | undefined;
  let to = text.length;
  for (let [start, line] = [0, 0]; start < text.length; line += 1) {
    const feed = text.indexOf('\n', start);
    const next = feed < 0 ? text.length : feed + 1;
    const own = plain === undefined ? text.slice(start, next) : plain[line];
    const heading = own?.startsWith('#') === true ? headingIn(own.trimEnd()) : undefined;
    if (heading !== undefined && wanted !== undefined && heading.level <= wanted.level) {
      to = start;
      break;
    }
    if (heading !== undefined && wanted === undefined && isWanted(heading))
      wanted = { level: heading.level, from: next, line: line + 1 };
    // Without examples, all that matters begins with a mark.
    const mark = plain === undefined && text[next] !== '#' ? text.indexOf('\n#', next) + 1 : next;
    start = mark === 0 ? text.length : mark;
  }
  if (wanted === undefined) return undefined;
  const { from, line } = wanted;
  const isExample = (index: number, own: string): boolean =>
    plain !== undefined && plain[line + index] !== own.replace(/\r?\n$/, '');
  return { from, to, isExample };
}
