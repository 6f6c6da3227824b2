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

/** The cosine, where both are of length one. */
export function likeness(asked: Float32Array, { numbers, scale }: SmallVector): number {
  let sum = 0;
  for (let i = 0; i < numbers.length; i++) sum += (asked[i] ?? 0) * (numbers[i] ?? 0);
  return sum * scale;
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

/**
 * The cosines with the vectors from one place to another, where all are of length one. Four vectors at a time share each
 * number of the question, and each has two sums, so that no addition waits for the one before.
 */
export function likenessesInBlock(
  { width, numbers, scales }: VectorBlock,
  asked: Float32Array,
  from: number,
  to: number,
  into: Float64Array,
): void {
  const question = Float64Array.from(asked);
  const even = width - (width % 2);
  let index = from;
  for (; index + 3 < to; index += 4) {
    const a = index * width;
    const [b, c, d] = [a + width, a + 2 * width, a + 3 * width];
    let [a0, a1, b0, b1, c0, c1, d0, d1] = [0, 0, 0, 0, 0, 0, 0, 0];
    for (let i = 0; i < even; i += 2) {
      const [x, y] = [question[i] as number, question[i + 1] as number];
      a0 += x * (numbers[a + i] as number);
      a1 += y * (numbers[a + i + 1] as number);
      b0 += x * (numbers[b + i] as number);
      b1 += y * (numbers[b + i + 1] as number);
      c0 += x * (numbers[c + i] as number);
      c1 += y * (numbers[c + i + 1] as number);
      d0 += x * (numbers[d + i] as number);
      d1 += y * (numbers[d + i + 1] as number);
    }
    if (even < width) {
      const last = question[even] as number;
      a0 += last * (numbers[a + even] as number);
      b0 += last * (numbers[b + even] as number);
      c0 += last * (numbers[c + even] as number);
      d0 += last * (numbers[d + even] as number);
    }
    into[index] = (a0 + a1) * (scales[index] as number);
    into[index + 1] = (b0 + b1) * (scales[index + 1] as number);
    into[index + 2] = (c0 + c1) * (scales[index + 2] as number);
    into[index + 3] = (d0 + d1) * (scales[index + 3] as number);
  }
  for (; index < to; index++) {
    const start = index * width;
    let [first, second] = [0, 0];
    for (let i = 0; i < even; i += 2) {
      first += (question[i] as number) * (numbers[start + i] as number);
      second += (question[i + 1] as number) * (numbers[start + i + 1] as number);
    }
    if (even < width) first += (question[even] as number) * (numbers[start + even] as number);
    into[index] = (first + second) * (scales[index] as number);
  }
}
