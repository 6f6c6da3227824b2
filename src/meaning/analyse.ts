import { stemmer as englishStem } from '@orama/stemmers/english';
import { stemmer as frenchStem } from '@orama/stemmers/french';
import { expectsVerb, infinitive, sameStem } from './french-forms.ts';
import { fold, splitHumps } from './words.ts';

/** Goes up whenever the same text would give other terms, so that stored terms are known to be old. */
export const ANALYSER_VERSION = 5;

/** Words that every sentence has and nothing is about, in French and English, without accents. */
const STOP_WORDS = new Set(
  (
    'a about after again all also am an and any are as at be because been before being but by can could did do does ' +
    'doing done for from had has have having he her here him his how i if in into is it its itself just may me might ' +
    'more most must my no nor not of off on once only or other our out over own per same shall she should so some such ' +
    'than that the their them then there these they this those through to too under until up very was we were what ' +
    'when where which while who whom whose why will with would you your ' +
    'afin ai ainsi alors apres as au aucun aucune aussi autre autres aux avait avant avec avoir avons ayant beaucoup ' +
    'ca car ce ceci cela celle celles celui ces cet cette ceux chaque chez ci comme comment combien dans de depuis des ' +
    'desormais deux donc dont du elle elles en encore entre es est et etaient etait ete etes etre eu eux fait faut font ' +
    'furent fut ici il ils je jusque la laquelle le lequel les lesquels leur leurs lors lorsque lui ma mais me meme ' +
    'memes mes moi moins mon ne ni non nos notre nous on ont ou par parce pas pendant peu peut peuvent plus plutot pour ' +
    'pourquoi puis quand que quel quelle quelles quels qui quoi sa sans se selon sera ses si sien soit son sont sous ' +
    'suis sur ta te tes toi ton tous tout toute toutes tres trop tu un une vers voici vos votre vous'
  ).split(' '),
);

/** Elided words of French, which stay behind when the apostrophe splits: `l'équipe`, `qu'il`. */
const ELISIONS = new Set('ll qu jusqu lorsqu puisqu quelqu aujourd hui ve re don doesn isn'.split(' '));

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
