/** Drivers give bytes that may begin anywhere in a block, where numbers cannot. */
export function floatsOf(bytes: Uint8Array): Float32Array {
  const whole = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
  return new Float32Array(whole.buffer, whole.byteOffset, whole.byteLength >> 2);
}

/** Four sums in parallel: the processor need not wait for one addition before it begins the next. */
export function product(vector: ArrayLike<number>, wanted: Float32Array): number {
  const dim = wanted.length;
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  let index = 0;
  for (; index + 3 < dim; index += 4) {
    a += (vector[index] as number) * (wanted[index] as number);
    b += (vector[index + 1] as number) * (wanted[index + 1] as number);
    c += (vector[index + 2] as number) * (wanted[index + 2] as number);
    d += (vector[index + 3] as number) * (wanted[index + 3] as number);
  }
  for (; index < dim; index++) a += (vector[index] as number) * (wanted[index] as number);
  return a + b + c + d;
}

/** The least of the best few of many: a list that is cut whenever it has grown to twice its size. */
export class Best {
  readonly #count: number;
  #kept: number[] = [];
  /** What is not above changes nothing. */
  bar = -Infinity;

  constructor(count: number) {
    this.#count = count;
  }

  offer(score: number): void {
    if (score <= this.bar) return;
    this.#kept.push(score);
    if (this.#kept.length >= 2 * this.#count) this.#cut();
  }

  #cut(): void {
    this.#kept.sort((a, b) => b - a);
    this.#kept = this.#kept.slice(0, this.#count);
    if (this.#kept.length === this.#count) this.bar = this.#kept.at(-1) ?? -Infinity;
  }

  /** Below all if there are not so many. */
  least(): number {
    this.#cut();
    return this.bar;
  }
}
