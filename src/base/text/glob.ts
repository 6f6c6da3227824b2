import { attempt, BmadError, quoted } from '../errors.ts';
import { t } from './message.ts';

const PATTERN_LIMIT = 256;

/**
 * Makes a matcher for `*` (within a folder), `**` (across folders) and `?`. The pattern is walked with the path in
 * a table of states instead of being turned into a regular expression, so no pattern can hang the server.
 */
export function globMatcher(pattern: string): (path: string) => boolean {
  if (pattern.length > PATTERN_LIMIT) {
    throw new BmadError('invalid_input', t`The pattern is ${pattern.length} characters long.`, {
      hint: t`At most ${PATTERN_LIMIT} are allowed. Example: "bmm/**/*.md".`,
    });
  }
  if (pattern.split('/').includes('..') || pattern.startsWith('/') || pattern.includes('\\')) {
    throw new BmadError('invalid_input', t`The pattern ${quoted(pattern)} leaves the BMAD content.`, {
      hint: t`Patterns are relative to the content, such as "core/**/*.csv".`,
    });
  }
  const tokens = tokenize(pattern);
  return (path) => tokensMatch(tokens, path);
}

type Token =
  | { kind: 'char'; char: string }
  | { kind: 'one' }
  | { kind: 'star' }
  | { kind: 'deep'; folder: boolean };

function tokenize(pattern: string): Token[] {
  const tokens: Token[] = [];
  const chars = Array.from(pattern);
  for (let index = 0; index < chars.length; index++) {
    const char = chars[index] ?? '';
    if (char === '?') {
      tokens.push({ kind: 'one' });
    } else if (char !== '*') {
      tokens.push({ kind: 'char', char });
    } else {
      let stars = 1;
      while (chars[index + 1] === '*') {
        stars += 1;
        index += 1;
      }
      const folder = stars > 1 && chars[index + 1] === '/';
      if (folder) index += 1;
      tokens.push(stars > 1 ? { kind: 'deep', folder } : { kind: 'star' });
    }
  }
  return tokens;
}

function tokensMatch(tokens: readonly Token[], path: string): boolean {
  let states = follow(tokens, new Set([0]), true);
  for (const char of path) {
    const next = new Set<number>();
    for (const state of states) {
      const token = tokens[state];
      if (token === undefined) continue;
      if (token.kind === 'char' && token.char === char) next.add(state + 1);
      if (token.kind === 'one' && char !== '/') next.add(state + 1);
      if (token.kind === 'star' && char !== '/') next.add(state);
      if (token.kind === 'deep') next.add(state);
    }
    states = follow(tokens, next, char === '/');
    if (states.size === 0) return false;
  }
  return states.has(tokens.length);
}

/** Adds the states reachable without a character. A folder wildcard ends only where a path segment begins. */
function follow(tokens: readonly Token[], states: Set<number>, atSegmentStart: boolean): Set<number> {
  for (const state of states) {
    const token = tokens[state];
    if (token?.kind === 'star' || (token?.kind === 'deep' && (!token.folder || atSegmentStart)))
      states.add(state + 1);
  }
  return states;
}

/** The rules of one ignore file, for paths relative to its folder. */
export interface IgnoreRules {
  /** True: left out; false: taken back in; nothing: no rule speaks of it. */
  verdict(path: string, folder: boolean): boolean | undefined;
}

interface Rule {
  matches(path: string): boolean;
  negated: boolean;
  folderOnly: boolean;
}

/** Reads a file in the format of `.gitignore`. Lines that cannot be parsed are skipped. */
export function ignoreRules(text: string): IgnoreRules {
  const rules = text.split(/\r?\n/).flatMap((line) => ruleOf(line) ?? []);
  return {
    verdict(path, folder) {
      for (const { matches, negated, folderOnly } of rules.toReversed())
        if ((folder || !folderOnly) && matches(path)) return !negated;
      return undefined;
    },
  };
}

const LONGEST = 4_096;

function ruleOf(line: string): Rule | undefined {
  // No path is that long, so that no path matches it.
  if (line.length > LONGEST) return undefined;
  const bare = line.trimEnd();
  // A blank behind a backslash belongs to the name.
  let pattern = bare.endsWith('\\') ? line.slice(0, bare.length + 1) : bare;
  if (pattern === '' || pattern.startsWith('#')) return undefined;
  const negated = pattern.startsWith('!');
  if (negated) pattern = pattern.slice(1);
  const folderOnly = pattern.endsWith('/');
  if (folderOnly) pattern = pattern.slice(0, -1);
  const anchored = pattern.includes('/');
  pattern = pattern.replace(/^\//, '').replace(/\\(?=[#! ])/, '');
  // Classes such as [ab] are rare; taking the place of any one character leaves out a little more than asked.
  pattern = pattern.replace(/\[[^\]/]*[\]/]?/g, (part) =>
    part.length > 2 && part.endsWith(']') ? '?' : part,
  );
  if (pattern === '') return undefined;
  const matches = attempt(
    () => globMatcher(anchored ? pattern : `**/${pattern}`),
    () => undefined,
  );
  return matches && { matches, negated, folderOnly };
}
