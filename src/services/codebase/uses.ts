import type { CodeIndex } from './code-index.ts';
import type { CodeHit } from './hits.ts';
import { pieceOf, pieceWith } from './pieces.ts';
import { readLines } from './read-file.ts';
import type { CodeQuestion } from './rank.ts';
import { isTestPath } from './wanted-files.ts';

/** A place that uses what was asked for. Lines are counted from 1. */
export interface CodeUse {
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
