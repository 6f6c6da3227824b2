import { analyse } from '../../meaning/analyse.ts';
import { singular } from './record-text.ts';
import { type Phrase, PHRASES } from './vocabulary.prepared.ts';
import type { Slot, WordIndex } from './word-index.ts';
import { push } from '../../base/values.ts';
import { withoutEnds } from '../../base/text/text.ts';
import { fold } from '../../meaning/words.ts';
import { isListed, qualifiedName, shortName, STARTABLE, type BmadRecord } from '../../model/record.ts';

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

export type Names = ReturnType<typeof createNames>;

interface OwnNames {
  handle: string;
  /** What it is called, and what else it answers to. */
  own: ReadonlySet<string>;
  other: ReadonlySet<string>;
}

/** The names of everything that is served; what is asked of them is put in order at the first question. */
export function createNames(served: readonly BmadRecord[], handleOf: (record: BmadRecord) => string) {
  const known = new Map<BmadRecord, OwnNames>();
  const byName: { own?: Map<string, Called[]>; other?: Map<string, Called[]> } = {};
  const terms = new Map<boolean, Map<string, Set<BmadRecord>>>();

  function of(record: BmadRecord): OwnNames {
    const names = known.get(record) ?? namesOf(record, handleOf(record));
    known.set(record, names);
    return names;
  }

  function having(which: 'own' | 'other', name: string): readonly BmadRecord[] {
    const index = (byName[which] ??= which === 'own' ? ownNames(served) : otherNames(served));
    return (index.get(name) ?? [])
      .filter(({ record, ifHandle }) => !ifHandle || plainName(handleOf(record)) === name)
      .map(({ record }) => record);
  }

  /** The words in the names of what is not searched by its texts: old names, and material or what can be started. */
  function termsBeside(startable: boolean): Map<string, Set<BmadRecord>> {
    const beside = new Map<string, Set<BmadRecord>>();
    for (const record of served) {
      if (isListed(record) && startable === STARTABLE.includes(record.kind)) continue;
      const { own, other } = of(record);
      for (const name of [...own, ...other])
        for (const term of analyse(name)) {
          const holding = beside.get(term) ?? new Set();
          beside.set(term, holding.add(record));
        }
    }
    return beside;
  }

  return {
    of,
    having,
    /** What has all these words in its names, among what is not searched by its texts. */
    holding(startable: boolean): (asked: readonly string[]) => readonly BmadRecord[] {
      return (asked) => {
        if (asked.length === 0) return [];
        const beside = terms.get(startable) ?? termsBeside(startable);
        terms.set(startable, beside);
        const sets = asked.map((term) => beside.get(term) ?? new Set<BmadRecord>());
        const [least = new Set<BmadRecord>()] = sets.toSorted((a, b) => a.size - b.size);
        return [...least].filter((record) => sets.every((set) => set.has(record)));
      };
    },
  };
}

/** What has a name. */
interface Called {
  record: BmadRecord;
  /** Only if that is its handle, which is found out when somebody asks: of thousands it would take long. */
  ifHandle: boolean;
}

function ownNames(served: readonly BmadRecord[]): Map<string, Called[]> {
  const index = new Map<string, Called[]>();
  for (const record of served) {
    const sure = plainNames([record.name, shortName(record.name), qualifiedName(record)]);
    for (const name of sure) push(index, name, { record, ifHandle: false });
    // All other handles are among those names.
    const handle = plainName(`${record.moduleName}/${shortName(record.name)}`);
    if (!sure.has(handle)) push(index, handle, { record, ifHandle: true });
  }
  return index;
}

function otherNames(served: readonly BmadRecord[]): Map<string, Called[]> {
  const index = new Map<string, Called[]>();
  for (const record of served)
    for (const name of plainNames(alsoCalled(record))) push(index, name, { record, ifHandle: false });
  return index;
}

/** Most names are plain already. */
const PLAIN = /^[a-z0-9]+(?:[-/][a-z0-9]+)*$/;

/** Case, accents and separators are ignored when names are compared. */
export function plainName(name: string): string {
  if (PLAIN.test(name)) return name;
  const plain = fold(name)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}/]+/gu, '-');
  return withoutEnds(plain, '-');
}

function namesOf(record: BmadRecord, handle: string): OwnNames {
  const own = [record.name, shortName(record.name), qualifiedName(record), handle];
  return { handle, own: plainNames(own), other: plainNames(alsoCalled(record)) };
}

function alsoCalled({ aliases, displayName = '', title = '' }: BmadRecord): string[] {
  return [...aliases, displayName, title];
}

function plainNames(names: readonly string[]): Set<string> {
  return new Set(names.map(plainName).filter((name) => name !== ''));
}
