/** What replaces a secret. */
export const MASK = '***';

/** A stretch of a text, from its first character to the one behind its last. */
export type Span = readonly [start: number, end: number];

/** One way to find secrets. What is found is masked, and everything around it stays as it is. */
export interface Rule {
  /** What it finds, for people: `a GitHub token`. */
  name: string;
  /** What is secret in a text, in order. It has to be linear in the length of the text. */
  find(text: string): Iterable<Span>;
}

/** Masks what the rules find, one after the other, and says what that was. */
export function masked(text: string, rules: readonly Rule[]): { text: string; found: string[] } {
  const found = new Set<string>();
  let safe = text;
  for (const { name, find } of rules) {
    let next = '';
    let from = 0;
    for (const [start, end] of find(safe)) {
      // The lines of a file keep their numbers.
      next += safe.slice(from, start) + MASK + (safe.slice(start, end).match(/\r?\n/g) ?? []).join('');
      from = end;
    }
    next += safe.slice(from);
    if (next !== safe) found.add(name);
    safe = next;
  }
  return { text: safe, found: [...found] };
}

/** What a pattern has found, by the names of its groups. */
export type Groups = Readonly<Record<string, string | undefined>>;

/**
 * A rule by a pattern. Its group `value`, which comes last, is the secret, or all that matches where it has none;
 * `secret` decides by the other groups, and may answer with the beginning of the value that is to be masked.
 */
export function byPattern(
  name: string,
  pattern: RegExp,
  secret: (groups: Groups, match: RegExpExecArray) => boolean | string = () => true,
): Rule {
  /** One that no search is using at the moment: to make one takes as long as to look through a short text. */
  let spare: RegExp | undefined;
  return {
    name,
    *find(text) {
      const matching = spare ?? new RegExp(pattern);
      spare = undefined;
      matching.lastIndex = 0;
      try {
        for (let match = matching.exec(text); match !== null; match = matching.exec(text)) {
          const [whole] = match;
          const value = match.groups?.['value'] ?? whole;
          const answer = secret(match.groups ?? {}, match);
          const start = match.index + whole.lastIndexOf(value);
          if (answer !== false && answer !== '')
            yield [start, start + (answer === true ? value : answer).length];
          // A secret may be inside of what belongs to another name: `callback=https://shop.test/?token=…`.
          else if (start > match.index) matching.lastIndex = start;
        }
      } finally {
        spare = matching;
      }
    },
  };
}

/** Where the authority of a URL ends. A quotation mark may be part of a password, so it ends only what it closes. */
const AUTHORITY_END = /[\s/?#"<>`\\]|'(?=[\s,;)\]}]|$)/g;

/**
 * `user:password@` in URLs. A scan instead of one regular expression: it is linear, and it takes everything up to the
 * last `@` of the authority, so a password that holds an `@` does not leak its tail.
 */
export const URL_CREDENTIALS: Rule = {
  name: 'credentials in a URL',
  *find(text) {
    for (let scheme = text.indexOf('://'); scheme !== -1; scheme = text.indexOf('://', scheme + 3)) {
      const start = scheme + 3;
      AUTHORITY_END.lastIndex = start;
      const authority = text.slice(start, AUTHORITY_END.exec(text)?.index ?? text.length);
      const at = authority.lastIndexOf('@');
      if (at !== -1 && !isLogin(text.slice(Math.max(0, scheme - 4), scheme), authority))
        yield [start, start + at];
    }
  },
};

export function stripUrlCredentials(text: string): string {
  return text.includes('://') ? masked(text, [URL_CREDENTIALS]).text : text;
}

/** The name before an ssh host says which account is meant, and is not a secret as long as no password follows. */
function isLogin(scheme: string, authority: string): boolean {
  return /(?:^|[^a-z0-9.-])ssh$/i.test(scheme) && /^[\w.~+-]+@[^@]*$/.test(authority);
}

/**
 * For an address that was typed and may be malformed: everything before the last `@` is removed, since a password may
 * contain any character.
 */
export function stripAddressCredentials(address: string): string {
  if (/^(?:git\+)?ssh:\/\/[\w.~+-]+@[^@#]*(?:#|$)/.test(address)) return address;
  return address
    .split('#')
    .map((part) => {
      const [scheme, at] = [part.indexOf('://'), part.lastIndexOf('@')];
      return scheme === -1 || at < scheme ? part : `${part.slice(0, scheme)}://${MASK}${part.slice(at)}`;
    })
    .join('#');
}

/** Values that must never be shown: registered once, removed from every log line and every answer. */
export interface Secrets {
  add(value: string): void;
  /** Removes registered values, for text that must otherwise not change. */
  hide(text: string): string;
  /** The same for every text inside a value. */
  hideIn(value: unknown): unknown;
  /** Removes registered values and the credentials of URLs; for everything the server says itself. */
  redact(text: string): string;
}

/** Shorter values would blank out ordinary words. */
const SHORTEST_SECRET = 6;

export function createSecrets(): Secrets {
  /** The longest first: where one secret is the beginning of another, the rest of the other would stay. */
  let values: string[] = [];
  function hide(text: string): string {
    let safe = text;
    for (const value of values) safe = safe.replaceAll(value, MASK);
    return safe;
  }
  return {
    add(value) {
      if (value.length < SHORTEST_SECRET || values.includes(value)) return;
      values = [...values, value].sort((a, b) => b.length - a.length);
    },
    hide,
    hideIn: (value) => (values.length === 0 ? value : mapTexts(value, hide)),
    // In this order, because a registered URL has to be found as it was registered.
    redact: (text) => stripUrlCredentials(hide(text)),
  };
}

function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, map));
  return mapValues(value, (inner) => mapTexts(inner, map)) ?? value;
}

/** A table with all its values changed; nothing for what is none. */
export function mapValues(
  table: unknown,
  map: (value: unknown, key: string) => unknown,
): Record<string, unknown> | undefined {
  if (typeof table !== 'object' || table === null || table instanceof Date) return undefined;
  return Object.fromEntries(Object.entries(table).map(([key, value]) => [key, map(value, key)]));
}
