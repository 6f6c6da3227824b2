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

/** The cosine with the vector at a place, where both are of length one. */
export function likenessInBlock(
  { width, numbers, scales }: VectorBlock,
  asked: Float32Array,
  index: number,
): number {
  const start = index * width;
  // Two sums at once: each addition need not wait for the one before.
  let [even, odd] = [0, 0];
  for (let i = 0; i + 1 < width; i += 2) {
    even += (asked[i] as number) * (numbers[start + i] as number);
    odd += (asked[i + 1] as number) * (numbers[start + i + 1] as number);
  }
  if (width % 2 === 1) even += (asked[width - 1] as number) * (numbers[start + width - 1] as number);
  return (even + odd) * (scales[index] ?? 0);
}
