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
