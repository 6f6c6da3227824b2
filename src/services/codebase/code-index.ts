import type { Analyser } from '../../meaning/analyse.ts';
import { RAW_WORD, splitIdentifier } from '../../base/text/code-words.ts';
import { wordsIn, type Packed } from './pieces.ts';
import { WordList } from './word-list.ts';

/** What is known of one file. The text itself is not kept; what is shown is read again. */
export interface IndexedFile extends Packed {
  path: string;
  mtimeMs: number;
  size: number;
  hash: string;
  language: string;
  /** Cut into windows for now, although there is a grammar for it. */
  rough: boolean;
  /** Why it is not searched. */
  skipped?: string;
}

export interface CodeIndex {
  files: Map<string, IndexedFile>;
  vocabulary: Vocabulary;
}

export type Vocabulary = ReturnType<typeof createVocabulary>;

const MOST_CACHED = 50_000;
const LONGEST_RAW = 64;
const MOST_COUNT = 255;

/**
 * The same text on its own. A piece of a longer one keeps all of that in memory, so that a name of every file would keep
 * every file.
 */
function ownText(text: string): string {
  return Buffer.from(text).toString('utf8');
}

/** Words and their numbers. */
export function createVocabulary(analyser: Analyser, list = new WordList()) {
  /** Identifiers repeat: each is taken apart once. */
  const cached = new Map<string, readonly number[]>();

  function numbersOf(raw: string): readonly number[] {
    const known = cached.get(raw);
    if (known !== undefined) return known;
    const own = ownText(raw);
    const found = raw.length > LONGEST_RAW ? [] : wordsOf(analyser, own).map((word) => list.add(word));
    if (cached.size > MOST_CACHED) cached.clear();
    cached.set(own, found);
    return found;
  }

  return {
    list,
    /** Counts the words of texts, each with its weight, as they are kept. */
    counted(texts: readonly (readonly [text: string, weight: number])[]): number[] {
      const counts = new Map<number, number>();
      for (const [text, weight] of texts)
        for (const raw of text.match(RAW_WORD) ?? [])
          for (const word of numbersOf(raw)) counts.set(word, (counts.get(word) ?? 0) + weight);
      return [...counts].map(([word, count]) => word * 256 + Math.min(MOST_COUNT, count));
    },
    /** Forgets how identifiers were taken apart: nothing more is read for now. */
    rest: (): void => cached.clear(),
    /** The words of a question, once each. */
    asked: (text: string): string[] => [
      ...new Set((text.match(RAW_WORD) ?? []).flatMap((raw) => wordsOf(analyser, raw))),
    ],
  };
}

/** The parts of an identifier, and the whole of it if it has several, be they words that are left out. */
function wordsOf(analyser: Analyser, raw: string): string[] {
  const parts = analyser.terms(raw);
  return parts.length > 1 || isKeptWhole(raw) ? [...parts, raw.toLowerCase()] : [...parts];
}

/** Whether the index has a name as it is, and so every longer one that it is part of. */
export function isKeptWhole(name: string): boolean {
  return name.length <= LONGEST_RAW && splitIdentifier(name).length > 1;
}

/** The words that files have, with their numbers changed accordingly; nothing where that is most of them anyway. */
export function usedWords(list: WordList, files: Iterable<IndexedFile>): WordList | undefined {
  const numbers = new Uint32Array(list.size);
  const packs = new Set<IndexedFile['pack']>();
  let count = 0;
  for (const file of files) {
    const { words } = file.pack;
    packs.add(file.pack);
    const { from, to } = wordsIn(file);
    for (let at = from; at < to; at++) {
      const number = (words[at] as number) >>> 8;
      if (numbers[number] === 0) numbers[number] = ++count;
    }
  }
  if (count * 2 >= list.size) return undefined;
  const used = new WordList();
  for (let number = 0; number < list.size; number++)
    if (numbers[number] !== 0) numbers[number] = used.add(list.at(number));
  for (const { words } of packs)
    for (let at = 0; at < words.length; at++) {
      const packed = words[at] as number;
      words[at] = (numbers[packed >>> 8] as number) * 256 + (packed & 255);
    }
  return used;
}
