import lookAlikes from '../../../assets/words/look-alike.json' with { type: 'json' };

/** Letters of other scripts that print like Latin ones, small letters only, and digits that do. */
const LATIN = /* @__PURE__ */ latinLetters();

function latinLetters(): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(lookAlikes).flatMap(([latin, others]) =>
      Array.from(others, (other) => [other, latin] as const),
    ),
  );
}

/** What a name looks like: the same for two names that people take for each other. Accents are seen, so they count. */
export function looks(name: string): string {
  const plain = name.normalize('NFKC').toLowerCase();
  return Array.from(plain, (char) => LATIN.get(char) ?? char)
    .join('')
    .replaceAll(/[\s.]+/g, '-');
}

/**
 * Which of the characters that no eye sees belong to how something is written: a joiner in an emoji or a word, the
 * variant of a sign. Where both forms look the same, a writer is free to choose, and choices can carry a message: a byte
 * in each variant of a Han character, a bit in each emoji. So a text has room for some choices only. In one with more, all
 * count as hidden but those that change what is seen.
 */
type IsWriting = (char: string, at: number) => boolean;

/** Bits that a text may hold in its choices: eight variants of Han characters, which is more than most names need. */
const ROOM = 40;
/** Bits of one choice: there are that many selectors for it. All else is written in two ways, which is one bit. */
const HAN_BITS = 5;
const MONGOLIAN_BITS = 2;
/** A selector that selects nothing is there for something else. */
const STRAY_BITS = 8;
/** Letters for each joiner among them, where words need joiners; a few are fine in any case. */
const LETTERS_FOR_JOINER = 4;
const FEW_JOINERS = 8;

const PICTURE = /^\p{Extended_Pictographic}$/u;
/** What may stand before a joiner in an emoji: a picture, its variant, its colour of skin. */
const PICTURE_END = /^(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\uFE0F)$/u;
/** Scripts whose letters take another shape next to a joiner, so that words are misspelt without it. */
const JOINING =
  /^[\p{scx=Arab}\p{scx=Syrc}\p{scx=Mand}\p{scx=Nkoo}\p{scx=Mong}\p{scx=Phag}\p{scx=Deva}\p{scx=Beng}\p{scx=Guru}\p{scx=Gujr}\p{scx=Orya}\p{scx=Taml}\p{scx=Telu}\p{scx=Knda}\p{scx=Mlym}\p{scx=Sinh}\p{scx=Khmr}\p{scx=Mymr}\p{scx=Tibt}]$/u;
const LETTER = /^[\p{L}\p{M}]$/u;
const HAN = /^\p{Unified_Ideograph}$/u;
const SHAPED = /^[\p{Sm}\p{scx=Mymr}\p{scx=Phag}]$/u;
const MONGOLIAN = /^\p{Script=Mongolian}$/u;
const KEY = /^[0-9#*]$/;

const OPTIONAL = /[\u200C-\u200D]|[\u180B-\u180D\u180F]|[\uFE00-\uFE0F]|[\u{E0100}-\u{E01EF}]/gu;
const BRAILLE_BLANK = '\u2800';

/** Answers for the characters of one text, which are asked for in order. */
function writingIn(text: string): IsWriting {
  let choices: Choices | undefined;
  let braille = { end: 0, isWriting: false };
  return (char, at) => {
    if (char === BRAILLE_BLANK) {
      if (at >= braille.end) braille = brailleFrom(text, at);
      return braille.isWriting;
    }
    const use = useOf(char, at, text);
    if (use === undefined || use.kind === 'key') return use !== undefined;
    choices ??= choicesIn(text);
    if (use.kind === 'word') return choices.words;
    return choices.few || (choices.needed ??= neededIn(text)).has(at);
  };
}

/** What an optional character does where it stands; nothing if it has no business there. */
interface Use {
  kind: 'key' | 'word' | 'emoji' | 'variant';
  base: string;
  bits: number;
}

function useOf(char: string, at: number, text: string): Use | undefined {
  const code = char.codePointAt(0) ?? 0;
  const base = characterBefore(text, at);
  if (isJoiner(char)) {
    if (JOINING.test(base) && LETTER.test(base)) return { kind: 'word', base, bits: 0 };
    const joins = code === 0x20_0d && PICTURE_END.test(base) && PICTURE.test(characterAt(text, at + 1));
    return joins ? { kind: 'emoji', base, bits: 1 } : undefined;
  }
  if (code === 0xfe_0e || code === 0xfe_0f) {
    if (KEY.test(base)) return text[at + 1] === '\u20E3' ? { kind: 'key', base, bits: 0 } : undefined;
    return PICTURE.test(base) ? { kind: 'variant', base, bits: 1 } : undefined;
  }
  if (code >= 0x18_0b && code <= 0x18_0f && code !== 0x18_0e)
    return MONGOLIAN.test(base) ? { kind: 'variant', base, bits: MONGOLIAN_BITS } : undefined;
  if (code === 0xfe_00 && SHAPED.test(base)) return { kind: 'variant', base, bits: 1 };
  // Registered variants of Han characters have the first three selectors of the one block, or the first 32 of the other.
  const isHan = (code >= 0xfe_00 && code <= 0xfe_02) || (code >= 0xe_01_00 && code <= 0xe_01_1f);
  return isHan && HAN.test(base) ? { kind: 'variant', base, bits: HAN_BITS } : undefined;
}

interface Choices {
  /** Whether variants and emoji hold no more than a text has room for. */
  few: boolean;
  /** Whether there are as few joiners as words need. */
  words: boolean;
  /** Where characters are without which an emoji is another one, should there be more than that. */
  needed?: ReadonlySet<number>;
}

function choicesIn(text: string): Choices {
  const variants = new Map<string, { bits: number; forms: Map<string, number> }>();
  let [joiners, bits] = [0, 0];
  for (const { 0: char, index: at } of text.matchAll(OPTIONAL)) {
    const use = useOf(char, at, text);
    if (use?.kind === 'word') joiners += 1;
    else if (use?.kind === 'emoji') bits += 1;
    else if (use === undefined && !isJoiner(char)) bits += STRAY_BITS;
    else if (use?.kind === 'variant') {
      const { forms } = variants.get(use.base) ?? { forms: new Map<string, number>() };
      variants.set(use.base, { bits: use.bits, forms: forms.set(char, (forms.get(char) ?? 0) + 1) });
    }
  }
  const bare = countsOf(text, variants);
  for (const [base, { bits: each, forms }] of variants)
    bits += each * choicesOf([...forms.values()], bare.get(base) ?? 0);
  return {
    few: bits <= ROOM,
    words: joiners <= FEW_JOINERS || joiners * LETTERS_FOR_JOINER <= lettersIn(text),
  };
}

/** Whoever writes a character always in the same way chooses once. */
function choicesOf(forms: readonly number[], all: number): number {
  const marked = forms.reduce((sum, each) => sum + each, 0);
  return all - Math.max(all - marked, ...forms) + 1;
}

function countsOf(text: string, wanted: ReadonlyMap<string, unknown>): Map<string, number> {
  const counts = new Map<string, number>();
  if (wanted.size > 0)
    for (const char of text) if (wanted.has(char)) counts.set(char, (counts.get(char) ?? 0) + 1);
  return counts;
}

function lettersIn(text: string): number {
  let letters = 0;
  for (const char of text) if (JOINING.test(char) && LETTER.test(char)) letters += 1;
  return letters;
}

const PICTURES = /[\p{Extended_Pictographic}\p{Emoji_Modifier}\uFE0F\u200D]+/gu;

/** Emoji that are known by all: their joiners and variants say what is seen. */
function neededIn(text: string): Set<number> {
  const known = new RegExp('\\p{RGI_Emoji}', 'gv');
  const needed = new Set<number>();
  for (const { 0: pictures, index: start } of text.matchAll(PICTURES))
    for (const { 0: emoji, index: from } of pictures.matchAll(known))
      for (let at = 0; at < emoji.length; at += 1)
        if (emoji[at] === '\u200D' || emoji[at] === '\uFE0F') needed.add(start + from + at);
  return needed;
}

/** A blank is writing among dots: in a word, or in the lines of a picture that is made of them. */
function brailleFrom(text: string, at: number): { end: number; isWriting: boolean } {
  let [start, end] = [at, at];
  while (/[\u2800\r\n]/.test(text[end] ?? '')) end += 1;
  while (/[\r\n]/.test(text[start - 1] ?? '')) start -= 1;
  const isDots = (char = ''): boolean => char > BRAILLE_BLANK && char <= '\u28FF';
  return { end, isWriting: isDots(text[start - 1]) || isDots(text[end]) };
}

function isJoiner(char: string): boolean {
  return char === '\u200C' || char === '\u200D';
}

function characterBefore(text: string, at: number): string {
  return Array.from(text.slice(Math.max(0, at - 2), at)).at(-1) ?? '';
}

function characterAt(text: string, at: number): string {
  const code = text.codePointAt(at);
  return code === undefined ? '' : String.fromCodePoint(code);
}

/**
 * Characters that no eye sees, yet terminals act on and models read: control characters, marks that turn the direction
 * of writing, spaces without width, tag characters, fillers, variation selectors. Unicode calls most of them "default
 * ignorable", which also covers those it has not assigned yet; the others look like a blank, or are no characters.
 */
const HIDDEN =
  '\\p{Default_Ignorable_Code_Point}\\p{Zl}\\p{Zp}\\p{Noncharacter_Code_Point}\\u2800\\uFFF9-\\uFFFC\\u{13430}-\\u{13442}\\u{16FE4}\\u{1D159}';

/** No writing puts so many marks on one letter; more of them cover what is around it. */
const STACKED = '\\p{M}(?<=\\p{M}{9})';

/** What most texts consist of, and none of the others are among: to ask for it first takes an eighth of the time. */
const SEEN =
  ' -~\\u00A0-\\u00AC\\u00AE-\\u02FF\\u2010-\\u2027\\u2030-\\u205E\\u2190-\\u27BF\\u3001-\\u3029\\u4E00-\\u9FFF\\uAC00-\\uD7A3\\u{1F000}-\\u{1FAFF}';

/** Line breaks and tabs are text to a reader of several lines. */
const IN_LINES = new RegExp(
  `(?![\\t\\n${SEEN}])(?:[${HIDDEN}\\0-\\x08\\x0B-\\x1F\\x7F-\\x9F]|${STACKED})`,
  'gu',
);
/** In a line of its own they are not. */
const IN_LINE = new RegExp(`(?![${SEEN}])(?:[${HIDDEN}\\p{Cc}]|${STACKED})`, 'gu');

/** Makes a character of one line, or of several, visible: `\u202e`. Everything else stays as it is. */
export function visible(text: string): string {
  const isWriting = writingIn(text);
  return text.replace(IN_LINE, (char: string, at: number) => (isWriting(char, at) ? char : escaped(char)));
}

/** The same for text of several lines: line breaks and tabs stay. */
export function visibleLines(text: string): string {
  const isWriting = writingIn(text);
  return text.replace(IN_LINES, (char: string, at: number) =>
    isWriting(char, at) || isLineEnd(char, at, text) ? char : escaped(char),
  );
}

/** JSON that says the same, with what is hidden in its strings as escapes of JSON itself. */
export function visibleJson(json: string): string {
  const isWriting = writingIn(json);
  return json.replace(IN_LINES, (char: string, at: number) =>
    isWriting(char, at) ? char : char.replaceAll(/[^]/g, escapedUnit),
  );
}

/** A name or a description without what is hidden in it. */
export function withoutHidden(text: string): string {
  const isWriting = writingIn(text);
  return text.replace(IN_LINES, (char: string, at: number) =>
    isWriting(char, at) || isLineEnd(char, at, text) ? char : '',
  );
}

/** What is hidden in a text, as its escapes, in order. A mark at the very beginning only says how a file is encoded. */
export function hiddenIn(text: string): { char: string; at: number }[] {
  const found: { char: string; at: number }[] = [];
  const isWriting = writingIn(text);
  for (const { 0: char, index: at } of text.matchAll(IN_LINES)) {
    const encoding = at === 0 && char === '\uFEFF';
    if (!encoding && !isWriting(char, at) && !isLineEnd(char, at, text))
      found.push({ char: escaped(char), at });
  }
  return found;
}

function escaped(char: string): string {
  return char.length === 1 ? escapedUnit(char) : `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`;
}

function escapedUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Half a line end of Windows does nothing that the other half does not do. */
function isLineEnd(char: string, at: number, text: string): boolean {
  return char === '\r' && text[at + 1] === '\n';
}
