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

/** The patterns of the page are here, not in TSX: what looks for slow ones reads plain TypeScript. */

/** The last name of a path, of either system. */
export const lastName = (path: string): string => path.split(/[\\/]/).at(-1) ?? '';

/** What is said about a thing, where it stands beside that: without its name. */
export const saidOfIt = (name: string, says: string): string =>
  says.startsWith(name) ? says.slice(name.length).replace(/^\s*:\s*/, '') : says;

/** Files that have the same name in every folder. */
export const isEverywhere = (name: string): boolean =>
  /^(?:state\.json|SKILL\.md|workflow\.(?:md|yaml))/.test(name);

/** Decisions about the machine, which take no project. */
export const isOfTheMachine = (operation: string): boolean => /^(?:sources_|trust$)/.test(operation);

/** `bmad-agent-architect` without what every such name begins with. */
export const bareName = (name: string): string => name.replace(/^bmad-(?:agent-)?/, '');

/** A line of a change that says where it is. */
export const isPlaceOfChange = (line: string): boolean => /^(?:---|\+\+\+|@@)/.test(line);

/** The block of fields at the top of many files, which is not part of their text; and the text. */
export function withoutFields(text: string): { fields: string | undefined; body: string } {
  const found = /^---\r?\n([\s\S]{0,20000}?)\r?\n---\r?\n/.exec(text);
  return found === null
    ? { fields: undefined, body: text }
    : { fields: found[1], body: text.slice(found[0].length) };
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&nbsp;': ' ',
};

/** Markdown's lexer leaves entities as they are written. */
export function withoutEntities(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot|#39|nbsp);/g, (entity) => ENTITIES[entity] ?? entity);
}

/** What several lines say as one. */
export const asLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** The words that somebody looks for. */
export const wordsOf = (text: string): string[] => text.toLowerCase().split(/\s+/).filter(Boolean);

/** What a description says first. */
export const firstSentence = (text: string): string =>
  /^[^.!?]*(?:[.!?](?!\s)[^.!?]*)*[.!?]?/.exec(text)?.[0] ?? text;

/** `2-planning` as people say it. */
export const phaseName = (phase: string): string => phase.replace(/^\d+-/, '').replaceAll('-', ' ');

/** `docs/prd.md:12`. */
export const placeText = ({
  file = '',
  line,
}: {
  file?: string | undefined;
  line?: number | undefined;
}): string => (line === undefined ? file : `${file}:${line}`);
