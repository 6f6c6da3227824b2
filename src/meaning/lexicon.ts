import trade from '../../assets/words/trade.json' with { type: 'json' };
import { analyse } from './analyse.ts';
import { fold } from './words.ts';

/** A longer text is a task or a page, not a question. */
const MOST_WORDS = 24;
const MOST_WORDINGS = 5;
const WORD = /[\p{L}\p{N}][\p{L}\p{N}.]*(?<=[\p{L}\p{N}])/gu;

interface Phrase {
  keys: readonly string[];
  /** The same in other words, those of the other language first. */
  others: readonly string[];
}

interface Known {
  /** What a question or a statement is made with and says nothing about its subject, whole and without accents. */
  weak: ReadonlySet<string>;
  /** By the first key, the longest first. */
  phrases: ReadonlyMap<string, readonly Phrase[]>;
}

let made: Known | undefined;

function known(): Known {
  return (made ??= { weak: new Set(trade.weak), phrases: phrasesIn(trade.same) });
}

/** Without accents, as many people type, and the same for one and for many; stems would mix up more than they join. */
const plain = (word: string): string => fold(word).toLowerCase();
const keyOf = (word: string): string => plain(word).replace(/(?<=.{3})[sx]$/, '');

/** The words of a text that are more than grammar. */
function wordsIn(text: string): string[] {
  return (text.normalize('NFC').match(WORD) ?? []).filter((word) => analyse(word).length > 0);
}

/** Words of our trade in English and in French: a question in one language finds what was noted in the other. */
function phrasesIn(same: typeof trade.same): Map<string, Phrase[]> {
  const found = new Map<string, Phrase[]>();
  for (const { en, fr } of same)
    for (const [own, other] of [
      [en, fr],
      [fr, en],
    ] as const)
      for (const phrase of own) {
        const keys = wordsIn(phrase).map(keyOf);
        const others = [...other, ...own].filter((each) => each !== phrase);
        const [first] = keys;
        if (first === undefined || others.length === 0) continue;
        found.set(first, [...(found.get(first) ?? []), { keys, others }]);
      }
  for (const phrases of found.values()) phrases.sort((a, b) => b.keys.length - a.keys.length);
  return found;
}

/** The words of a question that say what it is about; all of them where no others are left. */
export function subjectWords(text: string): string {
  const { weak } = known();
  const strong = wordsIn(text).filter((word) => !weak.has(plain(word)));
  return strong.length === 0 ? text : strong.join(' ');
}

/** The same question with the words of the other language, and with other words of its own; none for a long text. */
export function otherWordings(text: string): string[] {
  const words = wordsIn(subjectWords(text));
  if (words.length > MOST_WORDS) return [];
  const pieces = piecesOf(words);
  const ways = Math.min(MOST_WORDINGS, Math.max(0, ...pieces.map(({ others }) => others.length)));
  const wordings = Array.from({ length: ways }, (_, way) =>
    pieces.map(({ said, others }) => others[Math.min(way, others.length - 1)] ?? said).join(' '),
  );
  return [...new Set(wordings)];
}

/**
 * The names of things of the kinds that a question is about: `PostgreSQL` and its like for a database. A question that says
 * more than the kinds is about something of its own.
 */
export function thingsMeant(text: string): string[] {
  const words = wordsIn(subjectWords(text));
  const pieces = words.length > MOST_WORDS ? [] : piecesOf(words);
  const names = pieces.map(({ said, others }) => namesOf([said, ...others]));
  const kinds = names.filter((each) => each.length > 0);
  return kinds.length * 2 > pieces.length ? kinds.flat() : [];
}

function namesOf(words: readonly string[]): string[] {
  const said = new Set(words.map((word) => wordsIn(word).map(keyOf).join(' ')));
  return Object.entries(trade.things).flatMap(([kind, names]) =>
    said.has(wordsIn(kind).map(keyOf).join(' ')) ? names : [],
  );
}

function piecesOf(words: readonly string[]): { said: string; others: readonly string[] }[] {
  const { phrases } = known();
  const pieces: { said: string; others: readonly string[] }[] = [];
  for (let at = 0; at < words.length;) {
    const keys = words.slice(at).map(keyOf);
    const phrase = phrases
      .get(keys[0] ?? '')
      ?.find((each) => each.keys.every((key, index) => keys[index] === key));
    const length = phrase?.keys.length ?? 1;
    pieces.push({ said: words.slice(at, at + length).join(' '), others: phrase?.others ?? [] });
    at += length;
  }
  return pieces;
}
