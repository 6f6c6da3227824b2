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
