import { CATEGORIES, SEVERITIES, type Severity } from '../../model/memory.ts';
import { plainTitle } from '../markdown.ts';

/** What people write for the severities and categories of failures: one reading, in any case and in both languages. */

/** Words that say it in the middle of a heading, and those that have to be all there is. */
const SEVERITY_WORDS: readonly [Severity, mark: RegExp, within: RegExp, alone: RegExp][] = [
  [
    'critical',
    /🔴/u,
    /\b(?:critiques?|critical|bloquante?s?|blockers?|blocking)\b/,
    /^(?:high|hautes?|elevee?s?|majeure?s?|major|severes?|graves?)$/,
  ],
  ['important', /🟡|🟠/u, /\bimportante?s?\b/, /^(?:medium|moyenn?e?s?|moderate|moderee?s?)$/],
  ['micro', /🟢/u, /\bmicro\b/, /^(?:low|basses?|faibles?|minor|mineure?s?|trivial)$/],
];

/** The severity that a heading, a tag or a word stands for, by its colour or by its words. */
export function severityOf(text: string): Severity {
  const plain = plainTitle(text).replace(/^(?:severite|severity|gravite|priorite|priority)\b\s*/, '');
  const found = SEVERITY_WORDS.find(
    ([, mark, within, alone]) => mark.test(text) || within.test(plain) || alone.test(plain),
  );
  return found?.[0] ?? 'unknown';
}

/** The severest of what some tags stand for. */
export function severityAmong(tags: readonly string[]): Severity {
  const found = new Set(tags.map(severityOf));
  return SEVERITIES.find((severity) => found.has(severity)) ?? 'unknown';
}

type Category = (typeof CATEGORIES)[number];

const CATEGORY_WORDS: readonly [Category, RegExp][] = [
  [
    'CC-FAIL',
    /^(?:cc fail(?:ed|ure|s)?|(?:echec )?(?:du )?contrat(?: de completion)?|completion contract.*)$/,
  ],
  [
    'WRONG-ASSUMPTION',
    /^(?:wrong assumptions?|(?:mauvaises?|fausses?) hypotheses?|hypotheses? (?:fausses?|erronees?))$/,
  ],
  ['CONTEXT-LOSS', /^(?:context loss|lost context|pertes? de contexte|contexte perdu)$/],
  ['HALLUCINATION', /^hallucinations?$/],
  ['ARCH-MISTAKE', /^(?:arch(?:itecture)? (?:mistake|error)s?|erreurs? d'archi(?:tecture)?)$/],
  ['PROCESS-SKIP', /^(?:process skip(?:ped)?|skipped (?:process|steps?)|etapes? (?:sautee?|oubliee?)s?)$/],
];

/** The category that a word stands for; nothing where it is none. */
export function categoryOf(word: string): Category | undefined {
  const plain = plainTitle(word.replaceAll('_', ' ')).replaceAll('-', ' ');
  return CATEGORY_WORDS.find(([, pattern]) => pattern.test(plain))?.[0];
}

const LONGEST = 40;

/** `CC-FAIL — title`, `[cc-fail] title` or `Mauvaise hypothèse : titre` in its two parts. */
export function categoryAhead(
  heading: string,
  known = categoryOf,
): { category: Category; title: string } | undefined {
  const [, inBrackets, rest = ''] = /^\[([^\]]{3,40})\](.*)/s.exec(heading) ?? [];
  if (inBrackets !== undefined) {
    const category = known(inBrackets);
    return category === undefined ? undefined : { category, title: afterMark(rest) || heading };
  }
  // A word in capitals needs no mark after it; anything else could be a sentence.
  const [capitals = ''] = /^[A-Z][A-Z-]{2,39}(?=\s|$)/.exec(heading) ?? [];
  const [marked = ''] = /^[^:—–]{3,40}?(?=\s*[:—–]|\s-\s)/.exec(heading.slice(0, LONGEST + 2)) ?? [];
  for (const word of [capitals, marked]) {
    const category = word === '' ? undefined : known(word);
    if (category !== undefined) return { category, title: afterMark(heading.slice(word.length)) || heading };
  }
  return undefined;
}

function afterMark(text: string): string {
  return text
    .trim()
    .replace(/^[—–:-]\s*/, '')
    .trim();
}
