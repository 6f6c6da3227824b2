/**
 * How near many vectors are to one, roughly and fast: vectors with a byte a number, sixteen numbers at a time. JavaScript has
 * no such instructions; WebAssembly has, and what is here is its smallest program. Where it cannot be had, there is
 * none of this, and every vector is compared exactly.
 */
export interface NearScan {
  /** Takes in a vector of length one at a place; places are filled in any order. */
  put(place: number, vector: Float32Array): void;
  /** For each of the first places: no vector there is nearer than the one, nor farther than the other; they are close. */
  within(wanted: Float32Array, count: number): Bounds;
}

export interface Bounds {
  most: Float64Array;
  least: Float64Array;
}

const PAGE = 65_536;
const LANES = 16;
const MOST_BYTE = 127;
/** Products of bytes with numbers up to this can be added a thousand times before they overflow. */
const MOST_SHORT = 16_000;
const LONGEST = 1_024;

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
  Instance: new (module: object, imports: object) => { exports: { s: Scan } };
}
type Scan = (rows: number, count: number, width: number, wanted: number, out: number) => void;

function makeScan(width: number): NearScan {
  const { Memory, Module, Instance } = (globalThis as unknown as { WebAssembly: Assembly }).WebAssembly;
  const memory = new Memory({ initial: 1 });
  const program = Uint8Array.from(PROGRAM.join(' ').split(' '), (byte) => Number.parseInt(byte, 16));
  const { s: scan } = new Instance(new Module(program), { a: { m: memory } }).exports;
  let scales = new Float64Array(0);
  /** How much was lost when a vector was made small. */
  let losses = new Float64Array(0);
  /** How long it is since. */
  let lengths = new Float64Array(0);

  /** The question first, then the results, then the vectors: what is filled in last may grow. */
  const room = (bytes: number): void => {
    const missing = bytes - memory.buffer.byteLength;
    if (missing > 0) memory.grow(Math.ceil(missing / PAGE));
  };
  let places = 0;

  function reserve(count: number): void {
    if (count <= places) return;
    const before = places;
    const after = Math.max(count, 2 * before, 256);
    const old =
      before === 0
        ? undefined
        : new Uint8Array(memory.buffer).slice(rowsAt(before), rowsAt(before) + before * width);
    room(rowsAt(after) + after * width);
    if (old !== undefined) new Uint8Array(memory.buffer).set(old, rowsAt(after));
    scales = grown(scales, after);
    losses = grown(losses, after);
    lengths = grown(lengths, after);
    places = after;
  }
  const rowsAt = (count: number): number => width * 2 + count * 4;

  return {
    put(place, vector) {
      reserve(place + 1);
      const row = new Int8Array(memory.buffer, rowsAt(places) + place * width, width);
      const scale = largestIn(vector) / MOST_BYTE;
      const times = scale === 0 ? 0 : 1 / scale;
      let [lost, length] = [0, 0];
      for (let at = 0; at < width; at++) {
        const value = vector[at] as number;
        // Rounds as Math.round does, but for halves below zero, in a fraction of the time.
        const small = (value * times + (value < 0 ? -0.5 : 0.5)) | 0;
        const kept = small * scale;
        const gone = value - kept;
        row[at] = small;
        lost += gone * gone;
        length += kept * kept;
      }
      lengths[place] = Math.sqrt(length);
      scales[place] = scale;
      losses[place] = Math.sqrt(lost);
    },
    within(wanted, count) {
      const question = new Int16Array(memory.buffer, 0, width);
      const scale = largestIn(wanted) / MOST_SHORT;
      let [lost, length] = [0, 0];
      for (let at = 0; at < width; at++) {
        const value = wanted[at] as number;
        const short = scale === 0 ? 0 : Math.round(value / scale);
        question[at] = short;
        lost += (value - short * scale) ** 2;
        length += value * value;
      }
      scan(rowsAt(places), count, width, 0, width * 2);
      const sums = new Int32Array(memory.buffer, width * 2, count);
      const bounds = { most: new Float64Array(count), least: new Float64Array(count) };
      const [asked, missed] = [Math.sqrt(length), Math.sqrt(lost)];
      for (let place = 0; place < count; place++) {
        // What was lost on either side can add no more than the product of its length with the length of the other.
        const more = (losses[place] as number) * asked + (lengths[place] as number) * missed + ROUNDING;
        const near = (sums[place] as number) * (scales[place] as number) * scale;
        bounds.most[place] = near + more;
        bounds.least[place] = near - more;
      }
      return bounds;
    },
  };
}

const ROUNDING = 1e-6;

/** Plain loops, here and above: they run for every vector of a store before the first answer. */
function largestIn(vector: Float32Array): number {
  let largest = 0;
  for (let at = 0; at < vector.length; at++) {
    const value = Math.abs(vector[at] as number);
    if (value > largest) largest = value;
  }
  return largest;
}

function grown(numbers: Float64Array, length: number): Float64Array<ArrayBuffer> {
  const longer = new Float64Array(length);
  longer.set(numbers);
  return longer;
}

const isLittleEndian = (): boolean => new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/** `s(rows, count, width, wanted, out)`: the products of rows of bytes with one row of shorts, each as a whole number. */
const PROGRAM = [
  '00 61 73 6d 01 00 00 00', // magic and version
  '01 09 01 60 05 7f 7f 7f 7f 7f 00', // type: five i32, no result
  '02 08 01 01 61 01 6d 02 00 01', // import: the memory a.m
  '03 02 01 00', // one function
  '07 05 01 01 73 00 00', // export: s
  '0a 98 01 01 95 01', // code: one body
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
];
