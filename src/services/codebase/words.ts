import type { Analyser } from '../../meaning/analyse.ts';
import { type Packed, wordsIn } from './pieces.ts';
import common from '../../../assets/words/code.json' with { type: 'json' };

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

const LINE_FEED = 10;
const LEAST_ROOM = 1_024;

/**
 * Words and their numbers, in the order in which they came, as bytes: a string and a place in a map for each of 200,000 words take
 * three times the memory.
 */
export class WordList {
  /** Each word with a line feed after it. */
  #text: Buffer;
  #ends: Uint32Array;
  #size = 0;
  /** By a number made of the word, the place of the word + 1; the next free place where another word has it. */
  #table = new Uint32Array(0);

  constructor(text: Buffer = Buffer.alloc(0)) {
    this.#text = text;
    this.#ends = new Uint32Array(LEAST_ROOM);
    for (let at = text.indexOf(LINE_FEED); at !== -1; at = text.indexOf(LINE_FEED, at + 1))
      this.#push(at + 1);
  }

  get size(): number {
    return this.#size;
  }

  at(number: number): string {
    return this.#text.toString('utf8', this.#start(number), (this.#ends[number] as number) - 1);
  }

  /** The words from a number on, as they are written. */
  from(number: number): Buffer {
    return this.#text.subarray(this.#start(number), this.#start(this.#size));
  }

  numberOf(word: string): number | undefined {
    const found = this.#table[this.#placeOf(Buffer.from(word))] ?? 0;
    return found === 0 ? undefined : found - 1;
  }

  /** The number of a word, a new one if it has none yet. */
  add(word: string): number {
    const bytes = Buffer.from(`${word}\n`);
    const known = this.#table[this.#placeOf(bytes.subarray(0, -1))] ?? 0;
    if (known !== 0) return known - 1;
    const start = this.#start(this.#size);
    if (start + bytes.length > this.#text.length) {
      const room = Buffer.alloc(Math.max(LEAST_ROOM, 1.5 * this.#text.length + bytes.length));
      room.set(this.#text.subarray(0, start));
      this.#text = room;
    }
    this.#text.set(bytes, start);
    this.#push(start + bytes.length);
    return this.#size - 1;
  }

  /** A 1 for each word that has this text in it. */
  having(texts: readonly string[]): Uint8Array {
    const found = new Uint8Array(this.#size);
    const all = this.from(0);
    for (const text of texts)
      for (let at = all.indexOf(text), number = 0; at !== -1; at = all.indexOf(text, at + 1)) {
        while ((this.#ends[number] as number) <= at) number += 1;
        found[number] = 1;
      }
    return found;
  }

  #start(number: number): number {
    return number === 0 ? 0 : (this.#ends[number - 1] as number);
  }

  #push(end: number): void {
    if (this.#size === this.#ends.length) {
      const room = new Uint32Array(this.#size * 2);
      room.set(this.#ends);
      this.#ends = room;
    }
    this.#ends[this.#size++] = end;
    if (this.#size * 2 <= this.#table.length) return this.#enter(this.#size - 1);
    this.#table = new Uint32Array(Math.max(LEAST_ROOM, this.#table.length * 2));
    for (let number = 0; number < this.#size; number++) this.#enter(number);
  }

  #enter(number: number): void {
    const start = this.#start(number);
    this.#table[this.#placeOf(this.#text.subarray(start, (this.#ends[number] as number) - 1))] = number + 1;
  }

  /** Where a word is in the table, or would be. */
  #placeOf(word: Uint8Array): number {
    const last = this.#table.length - 1;
    let place = hash(word) & last;
    for (; ; place = (place + 1) & last) {
      const number = (this.#table[place] ?? 0) - 1;
      if (number < 0) return place;
      const start = this.#start(number);
      if ((this.#ends[number] as number) - 1 - start === word.length && this.#isAt(word, start)) return place;
    }
  }

  #isAt(word: Uint8Array, start: number): boolean {
    for (let at = 0; at < word.length; at++) if (this.#text[start + at] !== word[at]) return false;
    return true;
  }
}

/** FNV-1a. */
function hash(bytes: Uint8Array): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < bytes.length; at++) value = Math.imul(value ^ (bytes[at] as number), 0x01000193);
  return (value ^ (value >>> 15)) >>> 0;
}

/** Words that are common in code and in questions about it, and carry no meaning. */
const STOP_WORDS = new Set(Object.values(common).flatMap((words) => words.split(' ')));

/** Longer runs are hashes, keys and encoded data: no one searches for them by words, and some must not be kept. */
const LONGEST_WORD = 48;

/** Runs of letters and digits, exactly as in the code. */
const RAW_WORD = /[\w$\u00c0-\u024f\u0370-\u1fff\u3040-\ud7ff]+/g;

/** `parseHTTPHeader_v2` is `parse`, `HTTP`, `Header`, `v2`. */
export function splitIdentifier(name: string): string[] {
  return name
    .replace(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .split(/[\s_$]+/)
    .filter((part) => part !== '');
}

/** The words of a text in the form in which they are compared: parts of identifiers, folded, without endings. */
export function codeWords(text: string): string[] {
  const words: string[] = [];
  for (const [raw] of text.matchAll(RAW_WORD)) {
    if (raw.length > LONGEST_WORD || (raw.length >= 20 && /\d.*\d.*\d/.test(raw))) continue;
    for (const part of splitIdentifier(raw)) {
      const word = part
        .normalize('NFD')
        .replace(/\p{M}+/gu, '')
        .toLowerCase();
      if (word.length > 1 && !STOP_WORDS.has(word) && !STOP_WORDS.has(part.toLowerCase()))
        words.push(stem(word));
    }
  }
  return words;
}

/** Takes common English endings off, so that `parsing`, `parsed`, `parser` and `parses` are one word. */
function stem(word: string): string {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word;
  let root = word;
  if (root.endsWith('ies') && root.length > 4) root = `${root.slice(0, -3)}y`;
  else if (/(?:ss|sh|ch|x|z)es$/.test(root)) root = root.slice(0, -2);
  else if (/[^su]s$/.test(root) && !root.endsWith('is')) root = root.slice(0, -1);
  const before = root.slice(0, Math.max(0, root.search(/(?:ing|ed|er|or)$/)));
  const shorter = /[aeiouy]/.test(before) ? before : '';
  if (shorter.length >= 3 && root.length >= 5) root = undoubled(shorter);
  else if (/[st]ion$/.test(root) && root.length > 6) root = root.slice(0, -3);
  return root.length > 3 && root.endsWith('e') ? root.slice(0, -1) : root;
}

function undoubled(word: string): string {
  return /([bdgmnprt])\1$/.test(word) ? word.slice(0, -1) : word;
}
