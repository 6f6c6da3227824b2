/**
 * Which of the characters that no eye sees belong to how something is written: a joiner in an emoji or a word, the
 * variant of a sign. Where both forms look the same, a writer is free to choose, and choices can carry a message: a byte
 * in each variant of a Han character, a bit in each emoji. So a text has room for some choices only. In one with more, all
 * count as hidden but those that change what is seen.
 */
export type IsWriting = (char: string, at: number) => boolean;

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
export function writingIn(text: string): IsWriting {
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
