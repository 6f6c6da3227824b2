import { cut } from '../../base/text/text.ts';
import { estimateTokens } from '../../base/text/token-estimate.ts';

export interface Titled {
  title: string;
  text: string;
  /** How many times longer the whole is, where this is only its beginning. */
  times?: number;
}

/**
 * Texts within a number of tokens. Short ones are kept whole and long ones share what is left evenly, so that one long
 * text pushes out no other; each ends at the end of a line. What did not fit is told.
 */
export function withinTokens<T extends Titled>(
  texts: readonly T[],
  tokens: number,
): { texts: T[]; leftOut: string[] } {
  let room = tokens;
  const sizes = new Map(
    texts.map((each) => [each, Math.ceil(estimateTokens(each.text) * (each.times ?? 1))]),
  );
  const shares = new Map<T, number>();
  const bySize = [...sizes].sort(([, a], [, b]) => a - b);
  for (const [index, [each, size]] of bySize.entries()) {
    const given = Math.min(size, Math.max(0, Math.floor(room / (bySize.length - index))));
    shares.set(each, given);
    room -= given;
  }
  const leftOut: string[] = [];
  const kept = texts.flatMap((each) => {
    const [size, given] = [sizes.get(each) ?? 0, shares.get(each) ?? 0];
    if (given >= size && each.times === undefined) return [each];
    const text = beginning(each.text, given);
    leftOut.push(`${each.title}: the last ${size - estimateTokens(text)} of ${size} tokens`);
    return text === '' ? [] : [{ ...each, title: `${each.title} (beginning)`, text }];
  });
  return { texts: kept, leftOut };
}

/** Whole lines of a text within a number of tokens; of a first line that is longer alone, its beginning. */
export function beginning(text: string, tokens: number): string {
  const lines: string[] = [];
  let used = 0;
  for (const line of text.split('\n')) {
    used += estimateTokens(`${line}\n`);
    if (used > tokens) break;
    lines.push(line);
  }
  const whole = lines.join('\n');
  if (whole.trim() !== '' || tokens < 1) return whole;
  const words: string[] = [];
  used = 0;
  const start = text.trimStart().slice(0, tokens * 8);
  for (const word of start.split(/(?<= )/)) {
    used += estimateTokens(word);
    if (used > tokens) break;
    words.push(word);
  }
  // Chinese, Japanese and packed JSON have no words to cut at.
  return words.length > 0 ? words.join('').trimEnd() : charactersWithin(start, tokens);
}

/** As many characters from the start as the tokens suffice for. */
function charactersWithin(text: string, tokens: number): string {
  let [fits, most] = [0, text.length];
  while (fits < most) {
    const middle = Math.ceil((fits + most) / 2);
    if (estimateTokens(text.slice(0, middle)) <= tokens) fits = middle;
    else most = middle - 1;
  }
  return cut(text, fits);
}
