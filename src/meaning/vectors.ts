/** Turns texts into vectors. Vectors of different ids or lengths must never be compared with each other. */
export interface Embedder {
  /** Names the model and its version; kept beside every vector that is stored. */
  readonly id: string;
  readonly dim: number;
  /** One vector a text, in the same order, each of length one; all zeros where a text has no words. */
  embed(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]>;
}

/** Of length one, so that a product is a cosine; one of zeros stays. */
export function normalized(vector: Float32Array): Float32Array {
  const length = Math.sqrt(dot(vector, vector));
  return length === 0 ? vector : vector.map((value) => value / length);
}

export function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < a.length; index++) sum += (a[index] as number) * (b[index] as number);
  return sum;
}

/** Of the numbers above one, the places of the greatest that are taken, greatest first, and of equal ones the first. */
export function bestOf(
  numbers: Float32Array | Float64Array,
  count: number,
  above: number,
  isTaken?: (place: number) => boolean,
): number[] {
  let places: number[] = [];
  let bar = above;
  const cut = (): void => {
    places.sort((a, b) => (numbers[b] as number) - (numbers[a] as number) || a - b);
    places = places.slice(0, count);
    // Of those that are equal to the last one, the first are already there.
    if (places.length === count) bar = numbers[places.at(-1) ?? 0] as number;
  };
  for (let place = 0; place < numbers.length; place++) {
    if (!((numbers[place] as number) > bar) || isTaken?.(place) === false) continue;
    if (places.push(place) >= 2 * count) cut();
  }
  cut();
  return places;
}

/** A vector with a byte a number: a quarter of the room, and as good for comparing. */
export interface SmallVector {
  numbers: Int8Array;
  scale: number;
}

const MOST = 127;

/** Making a vector small twice changes nothing the second time. Plain loops: this runs before anything is compiled. */
export function smallVector(vector: Float32Array): SmallVector {
  let largest = 0;
  for (const value of vector) largest = Math.max(largest, value, -value);
  const scale = Math.fround(largest / MOST);
  const numbers = new Int8Array(vector.length);
  if (scale > 0) for (let i = 0; i < numbers.length; i++) numbers[i] = Math.round((vector[i] ?? 0) / scale);
  return { numbers, scale };
}

export function wholeVector({ numbers, scale }: SmallVector): Float32Array {
  const vector = new Float32Array(numbers.length);
  for (let i = 0; i < vector.length; i++) vector[i] = (numbers[i] ?? 0) * scale;
  return vector;
}

/** Many vectors with a byte a number, in one piece: thousands of small objects would take longer to walk than to compare. */
export interface VectorBlock {
  /** How many numbers each has. */
  width: number;
  numbers: Int8Array;
  scales: Float32Array;
}

/** Vectors of so many texts, put in one after the other. */
export function emptyBlock(count: number, width: number): VectorBlock {
  return { width, numbers: new Int8Array(count * width), scales: new Float32Array(count) };
}

export function putInBlock(
  { width, numbers, scales }: VectorBlock,
  index: number,
  vector: Float32Array,
): void {
  const small = smallVector(vector);
  numbers.set(small.numbers, index * width);
  scales[index] = small.scale;
}

/** Puts one in from another block whose vectors have as many numbers. */
export function copyInBlock(to: VectorBlock, index: number, from: VectorBlock, at: number): void {
  const { width } = to;
  to.numbers.set(from.numbers.subarray(at * width, (at + 1) * width), index * width);
  to.scales[index] = from.scales[at] ?? 0;
}

/** The cosines with all of them, where all are of length one, on machines and for widths that have nothing faster. */
export function likenessesInBlock(
  { width, numbers, scales }: VectorBlock,
  asked: Float32Array,
): Float64Array {
  return Float64Array.from(scales, (scale, index) => {
    let sum = 0;
    for (let i = 0; i < width; i++) sum += (asked[i] as number) * (numbers[index * width + i] as number);
    return sum * scale;
  });
}

/**
 * How near many vectors are to one, roughly and fast: vectors with a byte a number, sixteen numbers at a time. JavaScript has
 * no such instructions; WebAssembly has, and what is here is its smallest program. Where it cannot be had, there is
 * none of this, and every vector is compared exactly.
 */
export interface NearScan {
  /**
   * Stores vectors, given as bytes one after another, from a place on. Returns the squared length of each, so that the caller
   * can replace any whose length is not one.
   */
  put(place: number, vectors: Uint8Array): Float32Array;
  /** Stores a block of vectors that have a byte a number already, from the first place on. */
  putBlock(block: VectorBlock): void;
  /** For each of the first places, how near the vector there is, to about a hundredth; until the next question. */
  near(wanted: Float32Array, count: number): Float32Array;
  /** By how much the answer to a question is wrong at most, by place; for vectors of length one or less. */
  wrong(wanted: Float32Array): (place: number) => number;
}

const PAGE = 65_536;
const LANES = 16;
/** Products of bytes with numbers up to this can be added a thousand times before they overflow. */
const MOST_SHORT = 16_000;
const LONGEST = 1_024;
/** Vectors that are made small at once. */
const AT_ONCE = 1_000;

/** Undefined where the machine cannot do it, or vectors are of an odd length. */
export function nearScan(width: number): NearScan | undefined {
  if (width % LANES !== 0 || width > LONGEST || !isLittleEndian()) return undefined;
  try {
    return makeScan(width);
  } catch {
    return undefined;
  }
}

/** The part of it that is used; the types of the oldest Node do not know it. */
interface Assembly {
  Memory: new (size: { initial: number }) => { readonly buffer: ArrayBuffer; grow(pages: number): number };
  Module: new (program: Uint8Array) => object;
  Instance: new (module: object, imports: object) => { exports: { s: Step; q: Step } };
}
type Step = (from: number, count: number, width: number, other: number, out: number) => void;

function makeScan(width: number): NearScan {
  const { Memory, Module, Instance } = (globalThis as unknown as { WebAssembly: Assembly }).WebAssembly;
  const memory = new Memory({ initial: 1 });
  const program = Uint8Array.from(PROGRAM.join(' ').split(' '), (byte) => Number.parseInt(byte, 16));
  const { s: scan, q: makeSmall } = new Instance(new Module(program), { a: { m: memory } }).exports;
  /** What one of the numbers of a vector counts, by place. */
  let scales = new Float32Array(0);
  let near = new Float32Array(0);

  /** The question, vectors on their way in, two figures about each, then the small ones, and results behind them. */
  const incoming = width * 2;
  const figures = incoming + AT_ONCE * width * 4;
  const rows = figures + AT_ONCE * 8;
  const room = (places: number): void => {
    if (places <= scales.length) return;
    const after = Math.max(places, Math.ceil(scales.length * 1.25), 256);
    const missing = rows + after * (width + 4) - memory.buffer.byteLength;
    if (missing > 0) memory.grow(Math.ceil(missing / PAGE));
    const longer = new Float32Array(after);
    longer.set(scales);
    scales = longer;
  };

  return {
    put(place, vectors) {
      const count = vectors.byteLength / (width * 4);
      room(place + count);
      const squares = new Float32Array(count);
      for (let from = 0; from < count; from += AT_ONCE) {
        const some = Math.min(AT_ONCE, count - from);
        const bytes = vectors.subarray(from * width * 4, (from + some) * width * 4);
        new Uint8Array(memory.buffer).set(bytes, incoming);
        makeSmall(incoming, some, width, rows + (place + from) * width, figures);
        const made = new Float32Array(memory.buffer, figures, some * 2);
        for (let at = 0; at < some; at++) {
          scales[place + from + at] = made[at * 2] as number;
          squares[from + at] = made[at * 2 + 1] as number;
        }
      }
      return squares;
    },
    putBlock({ numbers, scales: given }) {
      room(given.length);
      new Int8Array(memory.buffer).set(numbers, rows);
      scales.set(given);
    },
    near(wanted, count) {
      if (count === 0) return new Float32Array(0);
      const question = new Int16Array(memory.buffer, 0, width);
      let largest = 0;
      for (const value of wanted) largest = Math.max(largest, Math.abs(value));
      const scale = largest / MOST_SHORT;
      for (let at = 0; at < width; at++)
        question[at] = scale === 0 ? 0 : Math.round((wanted[at] as number) / scale);
      const out = rows + scales.length * width;
      scan(rows, count, width, 0, out);
      const sums = new Int32Array(memory.buffer, out, count);
      if (near.length !== count) near = new Float32Array(count);
      for (let place = 0; place < count; place++)
        near[place] = (sums[place] as number) * (scales[place] as number) * scale;
      return near;
    },
    wrong(wanted) {
      let [largest, sum] = [0, 0];
      for (const value of wanted) {
        largest = Math.max(largest, Math.abs(value));
        sum += Math.abs(value);
      }
      // Each number of a vector, and of the question, is wrong by half of what one counts at most. The numbers of a vector of
      // length one have a sum of at most the root of their count. What is added is more than all other rounding.
      const ofQuestion = ((largest / MOST_SHORT) * Math.sqrt(width)) / 2 + 1e-4;
      return (place) => ((scales[place] as number) * sum * 1.01) / 2 + ofQuestion;
    },
  };
}

const isLittleEndian = (): boolean => new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/**
 * `s(rows, count, width, wanted, out)`: the products of rows of bytes with one row of shorts, each as a whole number.
 * `q(from, count, width, rows, out)`: rows of bytes from vectors of four bytes a number, and for each what one of its numbers
 * counts and the sum of its squares.
 */
const PROGRAM = [
  '00 61 73 6d 01 00 00 00', // magic and version
  '01 09 01 60 05 7f 7f 7f 7f 7f 00', // type: five i32, no result
  '02 08 01 01 61 01 6d 02 00 01', // import: the memory a.m
  '03 03 02 00 00', // two functions
  '07 09 02 01 73 00 00 01 71 00 01', // exports: s, q
  '0a bb 03 02', // code: two bodies
  '95 01', // s
  '02 02 7f 02 7b', // locals: 2 × i32 (end, at), 2 × v128 (sums, row)
  '02 40 03 40', // block, loop over rows
  '20 01 45 0d 01', // leave if count is 0
  '41 00 fd 11 21 07', // sums = 0
  '20 03 21 06', // at = wanted
  '20 03 20 02 41 01 74 6a 21 05', // end = wanted + width * 2
  '03 40', // loop over the numbers of a row
  '20 00 fd 00 00 00 21 08', // row = sixteen bytes
  '20 07 20 08 fd 87 01 20 06 fd 00 01 00 fd ba 01 fd ae 01', // sums += the first eight · the question
  '20 08 fd 88 01 20 06 fd 00 01 10 fd ba 01 fd ae 01 21 07', // sums += the other eight · the question
  '20 00 41 10 6a 21 00', // rows += 16
  '20 06 41 20 6a 22 06 20 05 49 0d 00 0b', // at += 32; again if at < end
  '20 04 20 07 fd 1b 00 20 07 fd 1b 01 6a 20 07 fd 1b 02 6a 20 07 fd 1b 03 6a 36 02 00', // out = the four sums together
  '20 04 41 04 6a 21 04', // out += 4
  '20 01 41 01 6b 21 01 0c 00', // count -= 1; again
  '0b 0b 0b', // ends of loop, block and function
  'a1 02', // q
  '03 02 7f 01 7d 03 7b', // locals: 2 × i32 (at, end), 1 × f32 (largest), 3 × v128 (most, squares, times)
  '02 40 03 40', // block, loop over vectors
  '20 01 45 0d 01', // leave if count is 0
  '41 00 fd 11 22 08 21 09', // most = squares = 0
  '20 00 22 05 20 02 41 02 74 6a 21 06', // at = from; end = from + width * 4
  '03 40', // loop over the numbers of a vector
  '20 08 20 05 fd 00 02 00 22 0a fd e0 01 fd e9 01 21 08', // most = the larger of it and four numbers, without their signs
  '20 09 20 0a 20 0a fd e6 01 fd e4 01 21 09', // squares += theirs
  '20 05 41 10 6a 22 05 20 06 49 0d 00 0b', // at += 16; again if at < end
  '20 08 fd 1f 00 20 08 fd 1f 01 97 20 08 fd 1f 02 97 20 08 fd 1f 03 97 21 07', // largest = the largest of the four
  '43 00 00 fe 42 20 07 95 fd 13 21 0a', // times = 127 / largest; nothing times that is no number, and becomes 0
  '20 04 20 07 43 00 00 fe 42 95 38 02 00', // out = largest / 127
  '20 04 20 09 fd 1f 00 20 09 fd 1f 01 92 20 09 fd 1f 02 92 20 09 fd 1f 03 92 38 02 04', // and the four squares together
  '20 04 41 08 6a 21 04', // out += 8
  '20 00 21 05', // at = from
  '03 40', // loop over the numbers again
  '20 03', // to rows:
  '20 05 fd 00 02 00 20 0a fd e6 01 fd 6a fd f8 01 20 05 fd 00 02 10 20 0a fd e6 01 fd 6a fd f8 01 fd 85 01', // eight numbers, rounded
  '20 05 fd 00 02 20 20 0a fd e6 01 fd 6a fd f8 01 20 05 fd 00 02 30 20 0a fd e6 01 fd 6a fd f8 01 fd 85 01', // and eight more
  'fd 65 fd 0b 00 00', // as sixteen bytes
  '20 03 41 10 6a 21 03', // rows += 16
  '20 05 41 c0 00 6a 22 05 20 06 49 0d 00 0b', // at += 64; again if at < end
  '20 06 21 00', // from = end
  '20 01 41 01 6b 21 01 0c 00', // count -= 1; again
  '0b 0b 0b', // ends of loop, block and function
];
