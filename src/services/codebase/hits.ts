import { readInside } from '../../base/files/files.ts';
import { maskCodeSecrets } from '../../base/secrets/scanner.ts';
import { cut } from '../../base/text/text.ts';
import type { Analyser } from '../../meaning/analyse.ts';
import { type Chunk, languageOf } from './chunks.ts';
import type { CodeIndex } from './words.ts';
import type { ExactMatch } from './exact.ts';
import { pieceOf, pieceWith } from './pieces.ts';
import type { CodeQuestion, Ranked, ScoreParts } from './rank.ts';
import { isTestPath, isWanted, LARGEST_FILE, readLines, unfitText } from './searched-files.ts';

interface SnippetLine {
  /** Counted from 1. */
  line: number;
  text: string;
}

/** One place in the code. Lines are counted from 1. */
export interface CodeHit {
  path: string;
  start: number;
  end: number;
  symbol?: string;
  kind: string;
  language: string;
  score: number;
  parts: Record<string, number>;
  snippet: SnippetLine[];
  /** Where the name that was asked for is called, and which tests do so; only of its definition. */
  calls?: CodeUse[];
  tests?: CodeUse[];
}

/** So many pieces of one file at most, so that one file does not fill the answer. */
const OF_ONE_FILE = 3;
const AROUND = { above: 2, below: 8 };
const UNREAD_SCORE = 0.5;
const SNIPPET_LINES = 7;
const SNIPPET_WIDTH = 160;

interface HitRequest {
  root: string;
  ranked: readonly Ranked[];
  /** Exact matches in files that are not in the index yet. */
  unread: readonly ExactMatch[];
  limit: number;
  question: CodeQuestion;
  analyser: Analyser;
}

/** The best places with a few lines of each, read from the files as they are now. */
export async function hitsOf(wanted: HitRequest): Promise<CodeHit[]> {
  const { root, ranked, limit, question, analyser } = wanted;
  const worth = worthOf(question, analyser);
  const ofFile = new Map<string, CodePlace[]>();
  const files = new Map<string, string[] | undefined>();
  const hits: CodeHit[] = [];
  for (const place of inOrder(ranked, wanted.unread)) {
    if (hits.length === limit) break;
    const shown = ofFile.get(place.path) ?? [];
    if (shown.length >= OF_ONE_FILE || shown.some((other) => overlap(other.chunk, place.chunk))) continue;
    if (!files.has(place.path))
      files.set(place.path, await linesToShow(root, place.path).catch(() => undefined));
    const lines = files.get(place.path);
    // Gone, no longer fit to be shown, or changed beyond recognition since it was ranked.
    if (lines === undefined || place.chunk.start >= lines.length) continue;
    ofFile.set(place.path, [...shown, place]);
    const { symbol, kind, start, end } = place.chunk;
    const matched = new Set(
      question.matches.filter(({ path }) => path === place.path).map(({ line }) => line),
    );
    hits.push({
      path: place.path,
      start: start + 1,
      end: Math.min(end, lines.length - 1) + 1,
      ...(symbol === '' ? {} : { symbol }),
      kind,
      language: place.language,
      score: rounded(place.score),
      parts: Object.fromEntries(Object.entries(place.parts).map(([name, value]) => [name, rounded(value)])),
      snippet: snippetOf(
        lines,
        place.chunk,
        (line, index) => worth(line) + (matched.has(index) ? MATCHED_LINE : 0),
      ),
    });
  }
  return hits;
}

/** Checked again, because a file may be none that is indexed: not read yet, or changed since. */
async function linesToShow(root: string, path: string): Promise<string[] | undefined> {
  if (!isWanted(path)) return undefined;
  const bytes = await readInside(root, path, LARGEST_FILE);
  const text = bytes.toString('utf8');
  if (unfitText(bytes, text) !== undefined) return undefined;
  return shownLines(text.replace(/^\uFEFF/, '').split('\n'), path);
}

interface CodePlace {
  path: string;
  chunk: Chunk;
  language: string;
  score: number;
  parts: ScoreParts;
}

function placeOf({ file, chunk, score, parts }: Ranked): CodePlace {
  return { path: file.path, chunk: pieceOf(file, chunk), language: file.language, score, parts };
}

/** Unread ones after those that are ranked as high. Few are needed of the thousands that may be ranked. */
function* inOrder(ranked: readonly Ranked[], unread: readonly ExactMatch[]): Generator<CodePlace> {
  const after = ranked.findIndex(({ score }) => score < UNREAD_SCORE);
  const before = after === -1 ? ranked.length : after;
  for (let at = 0; at < before; at++) yield placeOf(ranked[at] as Ranked);
  yield* unreadPlaces(unread);
  for (let at = before; at < ranked.length; at++) yield placeOf(ranked[at] as Ranked);
}

function unreadPlaces(matches: readonly ExactMatch[]): CodePlace[] {
  const seen = new Set<string>();
  return matches.flatMap(({ path, line }) => {
    if (seen.has(path)) return [];
    seen.add(path);
    const chunk = {
      start: Math.max(0, line - AROUND.above),
      end: line + AROUND.below,
      symbol: '',
      kind: 'text',
    };
    return [{ path, chunk, language: languageOf(path), score: UNREAD_SCORE, parts: { exact: UNREAD_SCORE } }];
  });
}

const MATCHED_LINE = 10;

/** How many of the asked words a line has. */
function worthOf({ words }: CodeQuestion, analyser: Analyser): (line: string) => number {
  const asked = new Set(words);
  return (line) => new Set(analyser.terms(line).filter((word) => asked.has(word))).size;
}

function overlap(a: Chunk, b: Chunk): boolean {
  return a.start <= b.end && b.start <= a.end;
}

function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}

/**
 * The lines of a file without its secrets. Masked as a whole, not piece by piece: a private key is longer than a piece,
 * and its middle looks like nothing in particular.
 */
function shownLines(lines: readonly string[], path: string): string[] {
  const masked = maskCodeSecrets(lines.join('\n'), path).split('\n');
  // Masking keeps the lines; should it ever not, their numbers would be wrong, and text that is not masked shown.
  return masked.length === lines.length ? masked : lines.map((line) => maskCodeSecrets(line, path));
}

/**
 * A few lines that show why a chunk was found: where it begins, and around the lines that say most of what was asked.
 * The lines are those of `shownLines`.
 */
function snippetOf(
  lines: readonly string[],
  { start, end }: Chunk,
  worth: (line: string, index: number) => number,
): SnippetLine[] {
  const last = Math.min(end, lines.length - 1);
  const shown = lines.slice(start, last + 1).map((line) => line.replace(/\r$/, ''));
  const first = Math.max(
    0,
    shown.findIndex((line) => /[\p{L}\p{N}]/u.test(line)),
  );
  const scores = shown.map((line, index) => (index < first ? 0 : worth(line.slice(0, 1_000), start + index)));
  const chosen = new Set([first]);
  const byWorth = scores.map((score, index) => ({ score, index })).filter(({ score }) => score > 0);
  byWorth.sort((a, b) => b.score - a.score || a.index - b.index);
  for (const { index } of byWorth) if (chosen.size < SNIPPET_LINES - 2) chosen.add(index);
  for (let index = first + 1; chosen.size < SNIPPET_LINES && index < shown.length; index++)
    if ((shown[index] ?? '').trim() !== '') chosen.add(index);
  return [...chosen]
    .sort((a, b) => a - b)
    .map((index) => ({ line: start + index + 1, text: narrow(shown[index] ?? '') }));
}

function narrow(line: string): string {
  const text = line.replaceAll('\t', '  ').trimEnd();
  return text.length <= SNIPPET_WIDTH ? text : `${cut(text, SNIPPET_WIDTH - 1)}…`;
}

/** A place that uses what was asked for. Lines are counted from 1. */
interface CodeUse {
  path: string;
  line: number;
  /** The function or class that the place is in, where a grammar tells. */
  symbol?: string;
}

/** So many definitions of one name are looked into, files with its uses read, and uses shown. */
const MOST_DEFINITIONS = 2;
const MOST_FILES = 60;
const MOST_SHOWN = 8;

/** Languages that call without parentheses: there every use of the name counts. */
const BARE_CALLS = new Set(['ruby', 'shell', 'powershell']);

/** Adds to the definition of a name that was asked for where it is called, and which tests call it. */
export async function addUses(
  root: string,
  { files }: CodeIndex,
  { matches, needles, takes }: CodeQuestion,
  hits: readonly CodeHit[],
): Promise<void> {
  const lines = new Map<string, readonly string[] | undefined>();
  const textOf = async (path: string, line: number): Promise<string> => {
    if (!lines.has(path) && lines.size < MOST_FILES)
      lines.set(path, await readLines(root, path).catch(() => undefined));
    return lines.get(path)?.[line]?.slice(0, 1_000) ?? '';
  };
  for (const hit of hits.filter(({ parts }) => parts['symbol'] !== undefined).slice(0, MOST_DEFINITIONS)) {
    const name = hit.symbol?.slice(hit.symbol.lastIndexOf('.') + 1) ?? '';
    const asked = new Set(
      needles.flatMap(({ text }, at) => (lastName(text) === name.toLowerCase() ? [at] : [])),
    );
    const found: Record<'calls' | 'tests', CodeUse[]> = { calls: [], tests: [] };
    for (const { path, line, needle } of matches) {
      const file = files.get(path);
      if (file === undefined || !takes(file) || !asked.has(needle)) continue;
      if (path === hit.path && line + 1 >= hit.start && line + 1 <= hit.end) continue;
      const to = isTestPath(path) ? found.tests : found.calls;
      if (to.length >= MOST_SHOWN || !isCall(await textOf(path, line), name, file.language)) continue;
      const piece = pieceWith(file, line);
      const within = piece === -1 ? '' : pieceOf(file, piece).symbol;
      if (!to.some((use) => use.path === path && (use.symbol ?? '') === within && within !== ''))
        to.push({ path, line: line + 1, ...(within === '' ? {} : { symbol: within }) });
    }
    if (found.calls.length > 0) hit.calls = found.calls;
    if (found.tests.length > 0) hit.tests = found.tests;
  }
}

const lastName = (text: string): string => (/[^.:>#-]+$/.exec(text)?.[0] ?? text).toLowerCase();

/** Lines that name what another file has, and comments; `user.save()` and `from(list)` are neither. */
const NO_CALLS = /^\s*(?:(?:import|from|use|using|require)\b(?!\s*[.(=])|export \{|\/\/|\*|#)/;

/** The name as a whole word with something to call it by after it; a definition has the same and another word before. */
function isCall(text: string, name: string, language: string): boolean {
  if (NO_CALLS.test(text)) return false;
  for (let at = text.indexOf(name); at !== -1; at = text.indexOf(name, at + 1)) {
    const before = text.slice(Math.max(0, at - 30), at);
    const after = text.slice(at + name.length, at + name.length + 60);
    if (/[\w$]$/.test(before) || /^[\w$]/.test(after)) continue;
    if (/\b(?:function|def|func|fn|class|interface|sub)\s+$/.test(before)) continue;
    if (BARE_CALLS.has(language) || /^(?:<[^<>()]*>)?\s*\(/.test(after) || /(?:<|new )$/.test(before))
      return true;
  }
  return false;
}
