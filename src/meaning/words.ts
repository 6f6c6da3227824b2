/**
 * Words as both the analyser and the static embedder see them: without accents, identifiers taken apart at their
 * humps. training/tokens.py does the same; the golden vectors hold the two together.
 */
const LIGATURES: Readonly<Record<string, string>> = {
  œ: 'oe',
  Œ: 'Oe',
  æ: 'ae',
  Æ: 'Ae',
  ß: 'ss',
  ø: 'o',
  Ø: 'O',
  ł: 'l',
  Ł: 'L',
};
const LIGATURE = /[œŒæÆßøØłŁ]/g;
const ACCENTS = /[\u0300-\u036f]/g;
const HUMP = /([a-z0-9])([A-Z])|([A-Z])(?=[A-Z][a-z])/g;

/** Most words have nothing to fold. */
const PLAIN = /^[\x20-\x7e]*$/;

/** Without accents and ligatures, case kept. */
export function fold(text: string): string {
  if (PLAIN.test(text)) return text;
  return text
    .replace(LIGATURE, (letter) => LIGATURES[letter] ?? letter)
    .normalize('NFD')
    .replace(ACCENTS, '');
}

/** `parseHTTPResponse` becomes `parse HTTP Response`. */
export function splitHumps(text: string): string {
  return text.replace(HUMP, (_, before?: string, after?: string, single?: string) =>
    before === undefined ? `${single} ` : `${before} ${after}`,
  );
}

/**
 * `1-2-login`; `US-042`, `STORY-3.2`, `ADR_7`; of what people number, and with a zero in front, also `story 3.2` and
 * `us 042`; `US042`. A date is none, and neither is `python 3`.
 */
const IDENTIFIER =
  /(?<![\p{L}\p{N}.-])(?:(\d{1,4}-\d{1,4}-\p{L}[\p{L}\p{N}-]{0,80})|(\p{L}{1,12})[-_](\d{1,9}(?:[.-]\d{1,6}){0,3})|(us|story|epic|adr|ac|fr|nfr|req|bug|issue|task|ticket|\p{L}{2,12}(?= 0)) (\d{1,9}(?:\.\d{1,6}){0,3})|(\p{L}{2,12})(\d{2,9}))(?![\p{L}\p{N}]|[.-]\d)/giu;

/** The identifiers that a text names, in one spelling: `us-042`, `story-3.2`, `1-2-login`. */
export function identifiersIn(text: string): string[] {
  const found = new Set<string>();
  for (const [, slug, letters, number, word, spaced, glued, digits] of text.matchAll(IDENTIFIER))
    found.add(
      (slug ?? `${letters ?? word ?? glued ?? ''}-${number ?? spaced ?? digits ?? ''}`).toLowerCase(),
    );
  return [...found];
}

const MOST_ASKED = 8;

/** Those that a question is about: the first few, because a pasted list of stories has hundreds. */
export function identifiersAsked(query: string): string[] {
  return identifiersIn(query).slice(0, MOST_ASKED);
}

/** Whether nothing is asked for but identifiers. */
export function isIdentifier(text: string): boolean {
  return identifiersIn(text).length > 0 && text.replaceAll(IDENTIFIER, '').trim() === '';
}

/** Whether a text names one of these; a story's key may go on: `1-2-login` is `1-2-login-form`. */
export function namesOne(text: string, wanted: readonly string[]): boolean {
  const own = identifiersIn(text);
  return wanted.some((id) =>
    own.some((other) => other === id || (/^\d/.test(id) && other.startsWith(`${id}-`))),
  );
}

/** The parts of BM25 that every word search here shares; what a text is, and how long it usually is, differs. */

/** How much a word tells that so many of all texts have; never negative. */
export function rarity(having: number, texts: number): number {
  return Math.log(1 + (texts - having + 0.5) / (having + 0.5));
}

/** How much longer a text counts than a usual one: `b` from 0, not at all, to 1, fully. */
export function lengthNorm(length: number, usual: number, b: number): number {
  return 1 - b + (b * length) / usual;
}

/** A word that comes often counts more than once, but ever less: 1 for once in a text of usual length. */
export function saturated(times: number, k1: number, norm: number): number {
  return (times * (k1 + 1)) / (times + k1 * norm);
}
