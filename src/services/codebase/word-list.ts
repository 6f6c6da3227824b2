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
