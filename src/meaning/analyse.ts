import { stemmer as englishStem } from '@orama/stemmers/english';
import { stemmer as frenchStem } from '@orama/stemmers/french';
import table from '../../assets/words/french.json' with { type: 'json' };
import stop from '../../assets/words/stop.json' with { type: 'json' };
import { fold, splitHumps } from './words.ts';

/** Goes up whenever the same text would give other terms, so that stored terms are known to be old. */
export const ANALYSER_VERSION = 5;

/** Words that every sentence has and nothing is about, in French and English, without accents. */
const STOP_WORDS = new Set(stop.words);

/** Elided words of French, which stay behind when the apostrophe splits: `l'équipe`, `qu'il`. */
const ELISIONS = new Set(stop.elisions);

/** A user is not the use of something, which nearly every text speaks of. */
const USER = /^utilisat(?:eur|rice)s?$/;

/** `policy` and `policies` differ in what the two sets of rules leave at the end. */
const LAST_VOWEL = /^(.{3,})[iy]$/;

/** A dotted number is one word: story 1.3 is not story 1 and not 3.1; `v1.3` is the same as `1.3`. */
const WORD = /(?<![\p{L}\p{N}]|\p{N}\.)v?(\d+(?:\.\d+)+)(?![\p{L}\p{N}])|[\p{L}\p{N}]+/gu;

const LONGEST_WORD = 64;
const KEPT_STEMS = 20_000;
const stems = new Map<string, string>();

/**
 * The terms of a text for word search: identifiers taken apart, stop words left out, French and English endings
 * removed, accents folded. The same text gives the same terms, whatever its language, so that a query needs none.
 */
export function analyse(text: string): string[] {
  const words = splitHumps(text.normalize('NFC')).toLowerCase().matchAll(WORD);
  const terms: string[] = [];
  let isVerbNext = false;
  for (const [whole, dotted] of words) {
    const word = dotted ?? whole;
    const plain = fold(word);
    const followsNous = isVerbNext;
    isVerbNext = expectsVerb(plain, followsNous);
    // A letter alone says nothing; a digit tells Python 2 from Python 3.
    if ((plain.length < 2 && !/\d/.test(plain)) || STOP_WORDS.has(plain) || ELISIONS.has(plain)) continue;
    terms.push(stem(infinitive(word.slice(0, LONGEST_WORD), followsNous)));
  }
  return terms;
}

/**
 * One stem for both languages: the French rules need the accents, the English ones come after. A word goes through
 * both, because its language is not known.
 */
function stem(word: string): string {
  const known = stems.get(word);
  if (known !== undefined) return known;
  const made = /\d/.test(word)
    ? fold(word)
    : USER.test(word)
      ? 'utilisateur'
      : sameStem(englishStem(fold(frenchStem(word))).replace(LAST_VOWEL, '$1'));
  if (stems.size >= KEPT_STEMS) stems.clear();
  stems.set(word, made);
  return made;
}

/** Turns a text into the words that are compared. Handed in, so that memory and code can share one. */
export interface Analyser {
  /** Changes when the same text yields different words; derived data is then recomputed. */
  id: string;
  terms: (text: string) => string[];
}

/**
 * Forms of French words that the rules of the stemmer leave apart: the first person plural, which looks like the plural of
 * a noun, and nouns that are made from verbs in another way than by `-ement` and `-ation`.
 */

/** May stand between `nous` and its verb. */
const BETWEEN = new Set(table.between);

/** Whether the words so far make the next one a verb of `nous`; handed on from word to word. */
function expectsVerb(plain: string, before: boolean): boolean {
  return plain === 'nous' || (before && BETWEEN.has(plain));
}

/** Endings that hardly any noun has: `déployons`, `optimisons`, `hébergeons`. */
const ALWAYS_VERB = /(?:[aeou]yons|(?:al|il|an|at|ar|or|ur|im|ot|ic)isons|[^d][aeour]geons)$/;
const NOUNS = new Set(table.nouns);

/** `déployons` as `déployer`; any other word as it is. `-ions` is left to the stemmer, which knows `validations`. */
function infinitive(word: string, followsNous: boolean): string {
  if (!word.endsWith('ons') || word.length < 6 || word.endsWith('ions')) return word;
  if (!followsNous && (!ALWAYS_VERB.test(word) || NOUNS.has(word))) return word;
  const root = word.slice(0, -3);
  if (root.endsWith('ge')) return `${root.slice(0, -1)}er`;
  return root.endsWith('ç') ? `${root.slice(0, -1)}cer` : `${root}er`;
}

/** Stems of one word in French and English, or of a verb and its noun, that the rules leave apart. */
const SAME: Readonly<Record<string, string>> = table.same;

/**
 * Families of words whose stem changes, by stem, the first for all: `choisir` and `choix`, `échouer` and `échec`, `réduire` and
 * `réduction`. Stems that English words with another meaning share are left out.
 */
const FAMILIES = new Map(
  table.families.flatMap((family) => {
    const [head = '', ...others] = family.split(' ');
    return others.map((other): [string, string] => [other, head]);
  }),
);

/** Verbs whose noun ends in `-age`, by stem: most words with this ending are none, such as `page` and `message`. */
const WITH_AGE = new Set(table.withAge);

function sameStem(given: string): string {
  const known = Object.hasOwn(SAME, given) ? SAME[given] : undefined;
  if (known !== undefined) return known;
  const head = FAMILIES.get(given);
  if (head !== undefined) return head;
  if (given === 'nettoyag') return 'netto';
  const verb = given.endsWith('ag') ? given.slice(0, -2) : '';
  return WITH_AGE.has(verb) ? verb : given;
}
