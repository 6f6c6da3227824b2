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
  const end = text.length;
  // Texts that were put together are slow to walk through; their characters in a row are not.
  const codes = new Uint16Array(end);
  Buffer.from(codes.buffer).write(text, 'utf16le');
  let tokens = 0;
  let at = 0;
  while (at < end) {
    const first = codes[at] ?? 0;
    const kind = kindAt(first);
    const start = at;
    let accents = 0;
    let hasHump = false;
    let isRepeated = true;
    let before = first;
    for (let code = first; ;) {
      if (code > 0x7f) accents += 1;
      else if (code >= 65 && code <= 90 && before >= 97) hasHump = true;
      if (code !== first) isRepeated = false;
      at += 1;
      if (at >= end) break;
      const next = codes[at] ?? 0;
      if (kindAt(next) !== kind) break;
      before = code;
      code = next;
    }
    tokens += costOf(kind, at - start, accents, hasHump, isRepeated);
  }
  return Math.ceil(tokens);
}

/** Numbers and not an object: it is asked for every word of every answer. */
function costOf(
  kind: number,
  length: number,
  accents: number,
  hasHump: boolean,
  isRepeated: boolean,
): number {
  switch (kind) {
    case LETTER:
      return Math.max(1, WORD + length / LETTERS_PER_TOKEN) + accents * ACCENT + (hasHump ? HUMP : 0);
    case DIGIT:
      return Math.ceil(length / DIGITS_PER_TOKEN);
    case SPACE:
      // One space belongs to the word behind it.
      return length > 1 ? INDENT + length / 80 : 0;
    case BREAK:
      return LINE_END + length / 80;
    case MARK:
      return Math.max(LEAST_MARKS, length / (isRepeated ? REPEATED_PER_TOKEN : MARKS_PER_TOKEN));
    default:
      return length * WIDE_CHARACTER;
  }
}

/** The kinds of the characters that nearly all texts are made of. */
const KINDS = Uint8Array.from({ length: 0x250 }, (_, code) => kindOf(code));

function kindAt(code: number): number {
  return code < 0x250 ? (KINDS[code] ?? WIDE) : WIDE;
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
