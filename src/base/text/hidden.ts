/**
 * Characters that no eye sees, yet terminals act on and models read: control characters, marks that turn the direction
 * of writing, spaces without width, tag characters, fillers, variation selectors. Unicode calls most of them "default
 * ignorable", which also covers those it has not assigned yet.
 */
const HIDDEN = '\\p{Default_Ignorable_Code_Point}\\p{Zl}\\p{Zp}\\uFFF9-\\uFFFB';

/** Line breaks and tabs are text to a reader of several lines. */
const IN_LINES = new RegExp(`[${HIDDEN}\\0-\\x08\\x0B-\\x1F\\x7F-\\x9F]`, 'gu');
/** In a line of its own they are not. */
const IN_LINE = new RegExp(`[${HIDDEN}\\p{Cc}]`, 'gu');

const PICTURE = /^(?:\p{Extended_Pictographic}|\p{Emoji})$/u;
/** What may stand before a joiner in an emoji: a picture, its variant, its colour of skin. */
const PICTURE_END = /^(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\uFE0F)$/u;
/** Scripts whose letters take another shape next to a joiner, so that words are misspelt without it. */
const JOINING =
  /^[\p{scx=Arab}\p{scx=Syrc}\p{scx=Mand}\p{scx=Nkoo}\p{scx=Mong}\p{scx=Phag}\p{scx=Deva}\p{scx=Beng}\p{scx=Guru}\p{scx=Gujr}\p{scx=Orya}\p{scx=Taml}\p{scx=Telu}\p{scx=Knda}\p{scx=Mlym}\p{scx=Sinh}\p{scx=Khmr}\p{scx=Mymr}\p{scx=Tibt}]$/u;
const LETTER = /^[\p{L}\p{M}]$/u;
const HAN = /^\p{scx=Han}$/u;
const SHAPED = /^[\p{scx=Han}\p{Sm}\p{scx=Mymr}\p{scx=Phag}]$/u;
const MONGOLIAN = /^\p{scx=Mong}$/u;

/** Makes a character of one line, or of several, visible: `\u202e`. Everything else stays as it is. */
export function visible(text: string): string {
  return text.replace(IN_LINE, (char: string, at: number) =>
    isWriting(char, at, text) ? char : escaped(char),
  );
}

/** The same for text of several lines: line breaks and tabs stay. */
export function visibleLines(text: string): string {
  return text.replace(IN_LINES, (char: string, at: number) =>
    isWriting(char, at, text) || isLineEnd(char, at, text) ? char : escaped(char),
  );
}

/** JSON that says the same, with what is hidden in its strings as escapes of JSON itself. */
export function visibleJson(json: string): string {
  return json.replace(IN_LINES, (char: string, at: number) =>
    isWriting(char, at, json) ? char : char.replaceAll(/[^]/g, escapedUnit),
  );
}

/** A name or a description without what is hidden in it. */
export function withoutHidden(text: string): string {
  return text.replace(IN_LINES, (char: string, at: number) =>
    isWriting(char, at, text) || isLineEnd(char, at, text) ? char : '',
  );
}

/** What is hidden in a text, as its escapes, in order. A mark at the very beginning only says how a file is encoded. */
export function hiddenIn(text: string): { char: string; at: number }[] {
  const found: { char: string; at: number }[] = [];
  for (const { 0: char, index: at } of text.matchAll(IN_LINES)) {
    const encoding = at === 0 && char === '\uFEFF';
    if (!encoding && !isWriting(char, at, text) && !isLineEnd(char, at, text))
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

/** Whether the character belongs to how something is written: a joiner in an emoji or a word, the variant of a sign. */
function isWriting(char: string, at: number, text: string): boolean {
  const code = char.codePointAt(0) ?? 0;
  const isJoiner = code === 0x20_0c || code === 0x20_0d;
  if (!isJoiner && !isVariation(code)) return false;
  const before = Array.from(text.slice(Math.max(0, at - 2), at)).at(-1) ?? '';
  if (isJoiner) {
    if (JOINING.test(before) && LETTER.test(before)) return true;
    return code === 0x20_0d && PICTURE_END.test(before) && PICTURE.test(after(text, at + 1));
  }
  if (code === 0xfe_0e || code === 0xfe_0f) return PICTURE.test(before);
  if (code === 0xfe_00) return SHAPED.test(before);
  return code < 0x20_00 ? MONGOLIAN.test(before) : HAN.test(before);
}

function isVariation(code: number): boolean {
  return (
    (code >= 0xfe_00 && code <= 0xfe_0f) ||
    (code >= 0xe_01_00 && code <= 0xe_01_ef) ||
    (code >= 0x18_0b && code <= 0x18_0f && code !== 0x18_0e)
  );
}

function after(text: string, at: number): string {
  const code = text.codePointAt(at);
  return code === undefined ? '' : String.fromCodePoint(code);
}
