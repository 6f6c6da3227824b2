import { PLACE } from './template.ts';

/** An English text with places, and how it is said in another language. */
export interface Pattern {
  /** What is fixed; something comes in between. */
  parts: readonly string[];
  /** In the other language: what is fixed, and the numbers of what comes in. */
  said: readonly (string | number)[];
  /** How much is fixed: of several that fit, the one that says most is meant. */
  weight: number;
  /** Whether only numbers may come in. */
  numbers: boolean;
}

const LETTERS = /\p{L}/gu;
const WORDS = /[\p{L}\p{N}_]+/gu;
const NUMBER = /^[\d.,~ ]+$/;
/** Where one sentence ends and another begins. */
const BREAK = /[.:;!?]\s/;
const COLUMNS = /\S {2,}\S/;
/** With less that is fixed, anything would fit: only numbers may come in. */
const LEAST = 4;
const LEAST_AFTER_PLACE = 6;
/** With less that is fixed, what comes in is looked at. */
const SURE = 16;
const SEVERAL_PLACES = 3;

export function patternOf(english: string, other: string): Pattern {
  const pieces = english.split(PLACE);
  const parts = pieces.filter((_piece, at) => at % 2 === 0);
  const places = pieces.filter((_piece, at) => at % 2 === 1);
  const fixed = parts.join('');
  const letters = fixed.match(LETTERS)?.length ?? 0;
  const marks = fixed.match(/[^\p{L}\s]/gu)?.length ?? 0;
  const least = parts[0] === '' ? LEAST_AFTER_PLACE : LEAST;
  return {
    parts,
    said: other.split(PLACE).map((piece, at) => (at % 2 === 0 ? piece : places.indexOf(piece))),
    weight: letters + marks / 4,
    numbers: places.includes('n') || letters + (places.length >= SEVERAL_PLACES ? marks : 0) < least,
  };
}

/** The longest word of a pattern that nothing can lengthen: every text that fits has it. */
export function keyWord({ parts }: Pattern): string | undefined {
  let longest: string | undefined;
  for (const [at, part] of parts.entries())
    for (const { 0: word, index } of part.matchAll(WORDS)) {
      const open = (index === 0 && at > 0) || (index + word.length === part.length && at < parts.length - 1);
      if (!open && word.length > (longest?.length ?? 0)) longest = word;
    }
  return longest;
}

export const wordsOf = (text: string): Set<string> => new Set(text.match(WORDS));

/** What came in, if the fixed parts are all there in their order. Each is looked for once, so time goes by length. */
export function match({ parts, numbers, weight }: Pattern, text: string): string[] | undefined {
  const [first = ''] = parts;
  const last = parts.at(-1) ?? '';
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length)
    return undefined;
  const end = text.length - last.length;
  const found: string[] = [];
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const next = text.indexOf(part, at);
    if (next === -1 || next + part.length > end) return undefined;
    found.push(text.slice(at, next));
    at = next + part.length;
  }
  found.push(text.slice(at, end));
  if (numbers) return found.every((each) => NUMBER.test(each)) ? found : undefined;
  const doubtful = found.some(
    (each, place) =>
      COLUMNS.test(each) ||
      (weight < SURE &&
        isDoubtful(each, parts[place] ?? '', !/\p{L}/u.test(last) && place === found.length - 1)),
  );
  return doubtful ? undefined : found;
}

/** Several sentences where there may be one, or a word where only an ending may come. */
function isDoubtful(found: string, before: string, isRest: boolean): boolean {
  // The rest of a text is several only behind a mark, or where it begins with one: `Next: {0}`, `it is running{0}`.
  const open = isRest && (/[.:;,]\s*$/.test(before) || /^\s*[.:;,(]/.test(found));
  if (!open && BREAK.test(found)) return true;
  return /\p{L}$/u.test(before) && /^ ?[\p{L}\p{N}]/u.test(found);
}
