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
