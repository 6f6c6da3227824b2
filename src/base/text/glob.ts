import { t } from './message.ts';
import { BmadError, quoted } from '../errors.ts';

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
  return (path) => matches(tokens, path);
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

function matches(tokens: readonly Token[], path: string): boolean {
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
