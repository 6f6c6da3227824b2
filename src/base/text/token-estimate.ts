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
  const codes = end <= SHORT ? shortCodes : new Uint16Array(end);
  // Texts that were put together are slow to walk through; their characters in a row are not.
  Buffer.from(codes.buffer).write(text, 'utf16le');
  let tokens = 0;
  let at = 0;
  while (at < end) {
    const first = codes[at] as number;
    const kind = KINDS[first] as number;
    const start = at;
    let code = first;
    if (kind === LETTER) {
      let accents = 0;
      let hasHump = false;
      let before = first;
      do {
        if (code > 0x7f) accents += 1;
        else if (code <= 90 && before >= 97) hasHump = true;
        before = code;
        at += 1;
        if (at === end) break;
        code = codes[at] as number;
      } while (KINDS[code] === LETTER);
      tokens += wordCost(at - start, accents, hasHump);
    } else {
      let isRepeated = true;
      do {
        if (code !== first) isRepeated = false;
        at += 1;
        if (at === end) break;
        code = codes[at] as number;
      } while (KINDS[code] === kind);
      tokens += runCost(kind, at - start, isRepeated);
    }
  }
  return Math.ceil(tokens);
}

/** Room for the codes of one text of usual size, used again for the next. */
const SHORT = 16_384;
const shortCodes = new Uint16Array(SHORT);

function wordCost(length: number, accents: number, hasHump: boolean): number {
  return Math.max(1, WORD + length / LETTERS_PER_TOKEN) + accents * ACCENT + (hasHump ? HUMP : 0);
}

/** For anything but words. Numbers rather than an object: this runs for every run of every answer. */
function runCost(kind: number, length: number, isRepeated: boolean): number {
  switch (kind) {
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

/** The kind of every UTF-16 code; behind the Latin letters all are alike. */
const KINDS = kindsOfAll();

function kindsOfAll(): Uint8Array {
  const kinds = new Uint8Array(0x1_0000).fill(WIDE);
  for (let code = 0; code < 0x250; code += 1) kinds[code] = kindOf(code);
  return kinds;
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
