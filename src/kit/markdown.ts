/** `- [2026-02-10] text`, with `-` or `*`, with or without a date. */
export function bulletIn(line: string): { date?: string; text: string } | undefined {
  const [mark] = /^\s{0,3}[-*]\s/.exec(line) ?? [];
  if (mark === undefined) return undefined;
  const whole = line.slice(mark.length).trim();
  const [day = '', date] = /^\[(\d{4}-\d{2}-\d{2})[^\]]{0,20}\]/.exec(whole) ?? [];
  const text = whole.slice(day.length).trimStart();
  if (whole === '' || /^[-*_]{2,}$/.test(text || whole)) return undefined;
  return date === undefined || text === '' ? { text: whole } : { date, text };
}

/** The text of an entry that is struck through, since another has replaced it. */
export function struckText(text: string): string | undefined {
  return text.length > 4 && text.startsWith('~~') && text.endsWith('~~') ? text.slice(2, -2) : undefined;
}

/** The cells of a table row; undefined for the line between head and body, and for anything that is not a row. */
export function rowIn(line: string): string[] | undefined {
  const trimmed = line.trim();
  if (!trimmed.startsWith('|') || /^\|[\s|:-]*$/.test(trimmed)) return undefined;
  return trimmed
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((part) => part.replaceAll(String.raw`\|`, '|').trim());
}

/** `{{name}}`, which a template has for something that is not known yet. */
export const PLACEHOLDER = /\{\{[^{}]*\}\}/;

/** What a template leaves to be filled in. */
export function isUnset(text: string): boolean {
  // Nearly every sentence has a letter that none of these words has.
  if (/[f-knqsu-z]/i.test(text) && !/\*\*|\{\{/.test(text)) return false;
  const bare = text.replace(/\*\*[^*]*\*\*\s*:?/g, '').replace(/[-*|>[\]()\s]/g, '');
  return (
    bare === '' ||
    /^(?:—|–|…|àcompléter\.?|tobecompleted\.?|tbd|todo)+$/i.test(bare) ||
    PLACEHOLDER.test(bare)
  );
}

/** What a heading is about, in French and in English; the first that fits counts. */
const TOPICS = {
  requests: /requetes? inter-?agents?|inter-?agents? requests?/,
  agents: /equipe d'agents|agents custom|custom agents?|agents? team|^(?:les )?agents$/,
  stack: /^(?:stack|tech)\b|technology stack/,
  vigilance: /points? de vigilance|points? of attention|watch ?points?|known risks/,
  variables: /variables? d'environnement|environment variables?/,
  environment: /environnement local|local environment|development environment/,
  database: /base de donnees|databases?/,
  infrastructure: /^infrastructure/,
  architecture: /^architecture/,
  api: /^api\b/,
  decisions: /^(?:les )?decisions?\b/,
  conventions: /^conventions?/,
  project: /^(?:projet|project)\b/,
};

export type Topic = keyof typeof TOPICS;

/** A heading without accents, marks and case, with one kind of apostrophe: `équipe d’agents` is `equipe d'agents`. */
export function plainTitle(title: string): string {
  return title
    .normalize('NFD')
    .replace(/[\u0300-\u036F*_`#]/g, '')
    .replace(/[’‘ʼ]/g, "'")
    .replace(/[^\p{L}\p{N}'/ -]/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase();
}

export function topicOf(title: string): Topic | undefined {
  const plain = plainTitle(title);
  return (Object.keys(TOPICS) as Topic[]).find((topic) => TOPICS[topic].test(plain));
}
