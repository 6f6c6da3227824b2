/**
 * Characters that are not seen, or that change what is seen: controls, directions, joiners, tags. They are shown by their
 * numbers, because a person decides by what is on the screen.
 */
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

export function visible(text: string): string {
  return text.replace(HIDDEN, (hidden) => `\\u{${(hidden.codePointAt(0) ?? 0).toString(16).toUpperCase()}}`);
}

export function hiddenIn(text: string): number {
  return text.match(HIDDEN)?.length ?? 0;
}

/** A title in a line: whatever is in it, it stays short. */
export function inLine(text: string, most = 300): string {
  const first = text
    .slice(0, most * 4)
    .replace(/\s+/g, ' ')
    .trim();
  return visible(first.length > most ? `${first.slice(0, most)}…` : first);
}

/** Facts about a thing, in a line; what is not known is left out. */
export const dotted = (...facts: readonly (string | undefined)[]): string =>
  facts.filter(Boolean).join(' · ');
