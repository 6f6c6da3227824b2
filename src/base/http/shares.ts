/** Places shared by several callers. */
export interface Shares<T> {
  /** `false` if no place is left, or if the caller has as many as are left for all others. */
  take(who: T, caller: string | undefined): boolean;
  giveBack(who: T): void;
}

/** No caller can take all places: one gets half of them, two get a third each. Unidentified callers count as one. */
export function createShares<T>(most: number): Shares<T> {
  const taken = new Map<T, string | undefined>();
  const held = new Map<string, number>();
  return {
    take(who, caller) {
      const left = most - taken.size;
      if (left <= 0) return false;
      if (caller !== undefined) {
        const own = held.get(caller) ?? 0;
        if (own >= left) return false;
        held.set(caller, own + 1);
      }
      taken.set(who, caller);
      return true;
    },
    giveBack(who) {
      const caller = taken.get(who);
      if (!taken.delete(who) || caller === undefined) return;
      const own = (held.get(caller) ?? 0) - 1;
      if (own <= 0) held.delete(caller);
      else held.set(caller, own);
    },
  };
}
