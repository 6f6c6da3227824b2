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
      next += safe.slice(from, start) + MASK;
      from = end;
    }
    next += safe.slice(from);
    if (next !== safe) found.add(name);
    safe = next;
  }
  return { text: safe, found: [...found] };
}

type Groups = Readonly<Record<string, string | undefined>>;

/**
 * A rule by a pattern. Its group `value`, which comes last, is the secret, or all that matches where it has none;
 * `secret` decides by the other groups, and may answer with the beginning of the value that is to be masked.
 */
export function byPattern(
  name: string,
  pattern: RegExp,
  secret: (groups: Groups, match: RegExpExecArray) => boolean | string = () => true,
): Rule {
  return {
    name,
    *find(text) {
      const matching = new RegExp(pattern);
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
    },
  };
}
