/** What a run of characters is, as far as tokenizers treat it alike. */
const LETTER = 1;
const DIGIT = 2;
const SPACE = 3;
const BREAK = 4;
const MARK = 5;
const WIDE = 6;

/** Costs in tokens, fitted to o200k_base over the files of real installs; tests/installs/token-estimate.test.ts has the errors. */
const WORD = 0.42;
const LETTERS_PER_TOKEN = 7.5;
const ACCENT = 0.25;
const HUMP = 0.7;
const DIGITS_PER_TOKEN = 3;
const INDENT = 0.6;
const LINE_END = 0.45;
const LEAST_MARKS = 0.85;
const MARKS_PER_TOKEN = 3.2;
const REPEATED_PER_TOKEN = 16;
const WIDE_CHARACTER = 0.9;

/**
 * About how many tokens a text is for a model, in one pass without a vocabulary. Bytes/4 is a third short on JSON and CSV
 * with checksums, and the texts of a project are of all kinds; this counts words, figures and punctuation apart. It is
 * meant to be a little high rather than low, because budgets go by it.
 */
export function estimateTokens(text: string): number {
  let tokens = 0;
  let at = 0;
  while (at < text.length) {
    const kind = kindOf(text.charCodeAt(at));
    const start = at;
    let accents = 0;
    let humps = 0;
    let isRepeated = true;
    const first = text.charCodeAt(at);
    let before = 0;
    do {
      const code = text.charCodeAt(at);
      if (code > 0x7f) accents += 1;
      if (isUpper(code) && before !== 0 && !isUpper(before)) humps += 1;
      if (code !== first) isRepeated = false;
      before = code;
      at += 1;
    } while (at < text.length && kindOf(text.charCodeAt(at)) === kind);
    tokens += costOf(kind, at - start, { accents, humps, isRepeated });
  }
  return Math.ceil(tokens);
}

interface Run {
  accents: number;
  humps: number;
  isRepeated: boolean;
}

function costOf(kind: number, length: number, { accents, humps, isRepeated }: Run): number {
  switch (kind) {
    case LETTER:
      return Math.max(1, WORD + length / LETTERS_PER_TOKEN) + accents * ACCENT + (humps > 0 ? HUMP : 0);
    case DIGIT:
      return Math.ceil(length / DIGITS_PER_TOKEN);
    case SPACE:
      // One space belongs to the word behind it.
      return length > 1 ? INDENT + length / 80 : 0;
    case BREAK:
      return LINE_END + length / 80;
    case MARK:
      return isRepeated
        ? Math.max(LEAST_MARKS, length / REPEATED_PER_TOKEN)
        : Math.max(LEAST_MARKS, length / MARKS_PER_TOKEN);
    default:
      return length * WIDE_CHARACTER;
  }
}

function isUpper(code: number): boolean {
  return code >= 65 && code <= 90;
}

function kindOf(code: number): number {
  if (code < 0x80) {
    if ((code >= 97 && code <= 122) || (code >= 65 && code <= 90)) return LETTER;
    if (code >= 48 && code <= 57) return DIGIT;
    if (code === 10 || code === 13) return BREAK;
    return code === 32 || code === 9 ? SPACE : MARK;
  }
  // Latin with accents; everything behind it has words and signs of few letters a token.
  if (code >= 0xc0 && code <= 0x24f) return LETTER;
  return code === 0xa0 ? SPACE : WIDE;
}
