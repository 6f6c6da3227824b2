import type { Pattern } from './pattern.ts';
import { PATTERNS } from './patterns.ts';
import { commentsOf, proseOf, stringsOf } from './texts.ts';

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
