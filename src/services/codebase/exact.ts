import type { FoundProgram } from '../../base/files/find-program.ts';
import { readLines } from './searched-files.ts';
import { wordsIn } from './pieces.ts';
import { linesByRipgrep } from './ripgrep.ts';
import { type CodeIndex, type IndexedFile, isKeptWhole } from './words.ts';

/** A piece of a question to find character by character. */
export interface Needle {
  text: string;
  /** Put in quotation marks by the caller; otherwise it looks like a name in code. */
  quoted: boolean;
}

export interface ExactMatch {
  path: string;
  /** Counted from 0. */
  line: number;
  needle: number;
}

const MOST_NEEDLES = 4;
const LONGEST_NEEDLE = 200;
/** Double quotation marks ask for exact text; others do so around several words, and mark a single one as a name. */
const QUOTED = /"([^"\n]{2,200})"|(?<=^|\s)(?:`([^`\n]+)`|'([^'\n]+)')(?=$|[\s.,;:!?)])/g;
/** `US-042`, `STORY-3.2`, `1-2-login`: taken apart, its pieces are everywhere. */
const NUMBERED =
  /(?<![\p{L}\p{N}.-])(?:\d{1,4}-\d{1,4}-\p{L}[\p{L}\p{N}-]{0,80}|\p{L}{1,12}-\d{1,9}(?:\.\d{1,6}){0,3})(?![\p{L}\p{N}]|[.-]\d)/gu;
const NAME = /[\p{L}_$][\p{L}\p{N}_$]*(?:(?:\.|::|->|#)[\p{L}_$][\p{L}\p{N}_$]*)*/gu;

/** What is quoted, and what can only be a name: `parseHeader`, `max_size`, `fs.open`, or the only word there is. */
export function needlesOf(query: string): Needle[] {
  const needles: Needle[] = [];
  const rest = query.replace(QUOTED, (whole, double?: string, back?: string, single?: string) => {
    if (double === undefined && !/.\s./.test(back ?? single ?? '')) return whole;
    needles.push({ text: double ?? back ?? single ?? '', quoted: true });
    return ' ';
  });
  const plain = rest.replace(NUMBERED, (text) => {
    needles.push({ text, quoted: false });
    return ' ';
  });
  const names = plain.match(NAME) ?? [];
  const alone = needles.length === 0 && /^\s*[\p{L}_$][^\s]*\s*$/u.test(plain);
  for (const text of names)
    if (text.length > 1 && (alone || /\p{Ll}\p{Lu}|._.|[.#>]|::/u.test(text)))
      needles.push({ text, quoted: false });
  const seen = new Set<string>();
  return needles
    .filter(
      ({ text }) => text.length <= LONGEST_NEEDLE && text.trim() !== '' && !seen.has(text) && seen.add(text),
    )
    .slice(0, MOST_NEEDLES);
}

const IN_ONE_FILE = 20;

/** Looks through the files as they are now, also those that are not in the index yet. Nothing when it cannot run. */
export async function matchesByRipgrep(
  program: FoundProgram,
  root: string,
  needles: readonly Needle[],
  signal: AbortSignal,
): Promise<ExactMatch[] | undefined> {
  const texts = needles.map(({ text }) => text);
  const folded = texts.map((text) => text.toLowerCase());
  const found = await linesByRipgrep(program, root, { texts, mostInFile: IN_ONE_FILE }, signal);
  return found?.flatMap(({ path, line, text }) => {
    const needle = folded.indexOf(text.toLowerCase());
    return needle === -1 ? [] : [{ path, line, needle }];
  });
}

/** Without ripgrep: reads the files that have all words of a needle. What is part of a longer word is not found. */
export async function matchesByScan(
  root: string,
  needles: readonly Needle[],
  { files, vocabulary }: CodeIndex,
  deadline: number,
  signal: AbortSignal,
): Promise<ExactMatch[]> {
  const found: ExactMatch[] = [];
  for (const [needle, { text }] of needles.entries()) {
    const words = vocabulary.asked(text).map((word) => vocabulary.list.numberOf(word));
    if (words.includes(undefined)) continue;
    const wanted = new Set(words);
    for (const file of files.values()) {
      signal.throwIfAborted();
      if (performance.now() > deadline) return found;
      if (hasAll(file, wanted)) found.push(...(await matchesInFile(root, file.path, text, needle)));
    }
  }
  return found;
}

/** To read more files takes longer than to start ripgrep. */
const MOST_READ = 300;
const NAME_ALONE = /^[\w$]+$/;

/**
 * Names of several parts, such as `parseHeader`: once all files are read, the index knows which have such a name, or a longer one
 * that it is part of. Nothing where a needle is anything else, or too many files have it.
 */
export async function matchesByIndex(
  root: string,
  needles: readonly Needle[],
  { files, vocabulary }: CodeIndex,
  signal: AbortSignal,
): Promise<ExactMatch[] | undefined> {
  if (!needles.every(({ text, quoted }) => !quoted && NAME_ALONE.test(text) && isKeptWhole(text)))
    return undefined;
  const names = needles.map(({ text }) => text.toLowerCase());
  const having = vocabulary.list.having(names);
  const wanted = [...files.values()].filter((file) => {
    const { words } = file.pack;
    const { from, to } = wordsIn(file);
    // A plain loop: it runs for every word of every file.
    for (let at = from; at < to; at++) if (having[(words[at] as number) >>> 8] === 1) return true;
    return false;
  });
  if (wanted.length > MOST_READ) return undefined;
  const found: ExactMatch[] = [];
  for (const { path } of wanted) {
    signal.throwIfAborted();
    for (const [needle, { text }] of needles.entries())
      found.push(...(await matchesInFile(root, path, text, needle)));
  }
  return found;
}

/** Capitals count where the needle has any, as with ripgrep. */
async function matchesInFile(
  root: string,
  path: string,
  text: string,
  needle: number,
): Promise<ExactMatch[]> {
  const anyCase = text === text.toLowerCase();
  const lines = await readLines(root, path).catch(() => []);
  return lines
    .flatMap((line, at) =>
      (anyCase ? line.toLowerCase() : line).includes(text) ? [{ path, line: at, needle }] : [],
    )
    .slice(0, IN_ONE_FILE);
}

function hasAll(file: IndexedFile, wanted: ReadonlySet<number | undefined>): boolean {
  const missing = new Set(wanted);
  const { from, to } = wordsIn(file);
  for (let at = from; at < to; at++) {
    missing.delete((file.pack.words[at] as number) >>> 8);
    if (missing.size === 0) return true;
  }
  return missing.size === 0;
}
