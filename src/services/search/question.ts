import { analyse } from '../../meaning/analyse.ts';
import { singular } from './record-text.ts';
import type { Phrase } from './vocabulary-lines.ts';
import { PHRASES } from './vocabulary.prepared.ts';
import type { Slot, WordIndex } from './word-index.ts';

/** No one types more; of pasted text only the beginning counts. */
const QUESTION_LENGTH = 400;
const MOST_WORDS = 32;
const SYNONYM_SHARE = 0.7;
const PHRASE_SHARE = 1;
const WISH_SHARE = 0.5;

/** Words of wishes, whatever is wished for. In small catalogues they would pass for rare ones. */
const WISHES = new Set(
  analyse(
    'want need would like please help let get make do give write create start use find look something thing way new my ' +
      'veux voudrais aimerais besoin aide aider faire fais mettre donner trouver écrire rédiger créer commencer chose nouveau',
  ),
);

/** Several words together exactly as in the vocabulary leave no doubt about what is meant. */
const shareOf = (phrase: readonly string[]): number => (phrase.length > 1 ? PHRASE_SHARE : SYNONYM_SHARE);

/** What was asked, cut to the length that is looked at. */
export function questionOf(typed: string): string {
  return singular(typed.slice(0, QUESTION_LENGTH));
}

/** The words of a question, and what else may be meant by each: a line of the vocabulary, a longer word, a slip. */
export function slotsOf(question: string, index: WordIndex, vocabulary?: Vocabulary): Slot[] {
  const words = analyse(question).slice(0, MOST_WORDS);
  const slots = words.map((word) => new Map([[word, 1]]));
  const add = (at: number, term: string, share: number): void => {
    const slot = slots[at];
    if (slot !== undefined && share > (slot.get(term) ?? 0)) slot.set(term, share);
  };
  const phrasesAt = (at: number) => phrasesIn(words, at, vocabulary);
  /** Words of an idiom up to here, which have been read with it. */
  let read = 0;
  words.forEach((word, at) => {
    if (at < read) return;
    const phrases = phrasesAt(at);
    const idiom = phrases.find((phrase) => phrase.plainly !== undefined);
    if (idiom === undefined)
      for (const [term, share] of index.near(word, !WISHES.has(word))) add(at, term, share);
    else {
      read = at + idiom.terms.length;
      for (let each = at; each < read; each++) slots[each] = new Map();
    }
    for (const { terms, others, plainly: isIdiom } of idiom === undefined ? phrases : [idiom])
      for (const other of others)
        other.forEach((term, place) => {
          const share = shareOf(terms) / Math.sqrt(other.length);
          terms.forEach((_, offset) => {
            // A word counts once: the words of an idiom stand for those of what it means one by one.
            const isItsTurn = isIdiom === undefined || other.length === 1 || place % terms.length === offset;
            if (isItsTurn) add(at + offset, term, share);
          });
        });
  });
  return slots.map((slot, at) =>
    WISHES.has(words[at] ?? '')
      ? new Map([...slot].map(([term, share]) => [term, share * WISH_SHARE]))
      : slot,
  );
}

function phrasesIn(words: readonly string[], at: number, vocabulary: Vocabulary | undefined) {
  return (vocabulary?.get(words[at] ?? '') ?? []).filter(({ terms }) =>
    terms.every((term, offset) => words[at + offset] === term),
  );
}

/** A question with what its idioms mean after it: a model that knows the words alone would take them for something else. */
export function plainly(question: string, vocabulary: Vocabulary): string {
  const words = analyse(question).slice(0, MOST_WORDS);
  const meant = words.flatMap((_, at) =>
    phrasesIn(words, at, vocabulary).flatMap((phrase) => phrase.plainly ?? []),
  );
  return [question, ...new Set(meant)].join(' ');
}

/** What the method's own words mean, by the first term, the longest first. */
type Vocabulary = ReadonlyMap<string, readonly Phrase[]>;

let made: Vocabulary | undefined;

/** Made when it is first asked for. */
export function methodVocabulary(): Vocabulary {
  return (made ??= new Map(PHRASES));
}
