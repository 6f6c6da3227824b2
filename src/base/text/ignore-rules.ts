import { attempt } from '../expected.ts';
import { globMatcher } from './glob.ts';

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
