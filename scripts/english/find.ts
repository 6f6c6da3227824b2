import { PATTERNS, type Pattern } from './patterns.ts';
import { HOLE, type Token, tokensOf } from './tokens.ts';

export interface Finding {
  file: string;
  line: number;
  phrase: string;
  /** The phrase with some of the text around it. */
  around: string;
  pattern: Pattern;
}

/** Phrases that are right where they are, each read by a person: the file, and a part of the text around the phrase. */
const EXCEPTIONS: readonly (readonly [file: string, around: string])[] = [
  // Written into files of projects, whose form does not change.
  ['src/kit/language.ts', 'Where to go on'],
];

const oneLine = (text: string): string => text.replace(/[\s¶]+/g, ' ').trim();

function excepted(file: string, text: string, at: number, phrase: string): boolean {
  const around = oneLine(text.slice(Math.max(0, at - 60), at + phrase.length + 60));
  return EXCEPTIONS.some(([name, part]) => name === file && around.includes(part));
}

function lineOf(source: string, place: number): number {
  let line = 1;
  for (let at = source.indexOf('\n'); at >= 0 && at < place; at = source.indexOf('\n', at + 1)) line += 1;
  return line;
}

/** The phrases of one file that should be written differently, in the order of its lines. */
export function findIn(file: string, source: string, comments = false): Finding[] {
  const texts = file.endsWith('.md')
    ? proseOf(source)
    : [...stringsOf(source), ...(comments ? commentsOf(source) : [])];
  const findings: Finding[] = [];
  for (const { text, places } of texts)
    for (const pattern of PATTERNS)
      for (const match of text.matchAll(pattern.phrase)) {
        if (excepted(file, text, match.index, match[0])) continue;
        const start = match.index + (/^[\s.!?:;,|¶*-]*/.exec(match[0])?.[0].length ?? 0);
        const end = match.index + match[0].length;
        findings.push({
          file,
          line: lineOf(source, places[start] ?? 0),
          phrase: oneLine(text.slice(start, end)),
          around: oneLine(text.slice(Math.max(0, start - 40), end + 40)),
          pattern,
        });
      }
  return findings.sort((one, other) => one.line - other.line);
}

/** A text that people read, with the place in its file of each character. */
export interface Text {
  text: string;
  places: number[];
}

const textOf = (token: Token): Text => ({ text: token.text, places: [...token.places] });

/** Strings that are put together with `+` are one sentence, written on several lines. */
function joined(tokens: readonly Token[]): Text[] {
  const found: Text[] = [];
  const taken = new Set<Token>();
  for (const first of tokens) {
    if (first.kind !== 'string' || taken.has(first)) continue;
    const whole = textOf(first);
    for (let last: Token = first; ;) {
      const [plus, next] = tokens.filter((token) => token.start >= last.end).slice(0, 2);
      if (plus?.text !== '+' || next?.kind !== 'string') break;
      whole.text += next.text;
      whole.places.push(...next.places);
      taken.add(next);
      last = next;
    }
    found.push(whole);
  }
  return found;
}

/** What TypeScript says to people: its strings and templates. */
export function stringsOf(source: string): Text[] {
  return joined(tokensOf(source).filter((token) => token.kind !== 'comment'));
}

export function commentsOf(source: string): Text[] {
  const comments = tokensOf(source).filter((token) => token.kind === 'comment');
  return comments.map((comment) => {
    const text = comment.text.replace(/^[\t ]*\*+|^\/[/*]+/gm, (start) => ' '.repeat(start.length));
    return { text, places: [...comment.places] };
  });
}

const blank = (text: string): string => text.replace(/[^\n]/g, ' ');
const holes = (text: string): string => text.replace(/[^\n]/g, HOLE);

/** The prose of a page: code, addresses and comments are blanked, and a paragraph does not flow into the next. */
export function proseOf(page: string): Text[] {
  const text = page
    .replace(/^---\n[\s\S]*?\n---\n/, blank)
    .replace(/^( *)(`{3,}|~{3,})[\s\S]*?^\1\2`*$/gm, blank)
    .replace(/<!--[\s\S]*?-->/g, blank)
    .replace(/(`+)(?:(?!\1)[\s\S])+?\1/g, holes)
    .replace(/\]\([^)\s]*\)/g, blank)
    .replace(/https?:\/\/\S+/g, holes)
    .replace(/\n(?=[\t ]*(?:\n|[-*#|>]|\d+\. ))/g, '¶');
  return [{ text, places: Array.from({ length: text.length }, (_, place) => place) }];
}
