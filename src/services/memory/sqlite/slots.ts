import { MOST_RID } from './passing.ts';

const LEAST = 1_024;

/** Where the vector of a row is. As numbers, because a map of a hundred thousand takes longer to fill than vectors to read. */
export class Slots {
  /** By rid, one more than the slot; zero for none. */
  #near = new Int32Array(LEAST);
  /** Of files from elsewhere. */
  readonly #far = new Map<number, number>();

  get(rid: number): number | undefined {
    if (rid > MOST_RID) return this.#far.get(rid);
    const found = this.#near[rid] ?? 0;
    return found === 0 ? undefined : found - 1;
  }

  set(rid: number, slot: number): void {
    if (rid > MOST_RID) {
      this.#far.set(rid, slot);
      return;
    }
    if (rid >= this.#near.length) {
      const longer = new Int32Array(Math.min(MOST_RID + 1, Math.max(rid + 1, this.#near.length * 2)));
      longer.set(this.#near);
      this.#near = longer;
    }
    this.#near[rid] = slot + 1;
  }
}
