/** The places of the highest numbers above zero, highest first; of equal ones, the earlier first. Without sorting them all. */
export function best(scores: Float64Array, most: number): number[] {
  /** A heap with the worst of the best on top. */
  const heap: number[] = [];
  const isWorse = (a: number, b: number): boolean => {
    const difference = (scores[a] as number) - (scores[b] as number);
    return difference < 0 || (difference === 0 && a > b);
  };
  function settle(from: number): void {
    for (let at = from; ;) {
      let worst = at;
      for (const below of [2 * at + 1, 2 * at + 2])
        if (below < heap.length && isWorse(heap[below] as number, heap[worst] as number)) worst = below;
      if (worst === at) return;
      [heap[at], heap[worst]] = [heap[worst] as number, heap[at] as number];
      at = worst;
    }
  }
  for (let place = 0; place < scores.length; place++) {
    if (!((scores[place] as number) > 0)) continue;
    if (heap.length < most) {
      heap.push(place);
      if (heap.length === most) for (let at = most >>> 1; at >= 0; at--) settle(at);
    } else if (isWorse(heap[0] as number, place)) {
      heap[0] = place;
      settle(0);
    }
  }
  return heap.sort((a, b) => (isWorse(a, b) ? 1 : -1));
}
