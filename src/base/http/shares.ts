/** Places shared by several callers. No caller can take all of them: one gets half, two get a third each. Unidentified callers count as one. */
export function createShares<T>(most: number) {
  const taken = new Map<T, string | undefined>();
  const held = new Map<string, number>();
  return {
    /** `false` if no place is left, or if the caller has as many as are left for all others. */
    take(who: T, caller: string | undefined): boolean {
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
    giveBack(who: T): void {
      const caller = taken.get(who);
      if (!taken.delete(who) || caller === undefined) return;
      const own = (held.get(caller) ?? 0) - 1;
      if (own <= 0) held.delete(caller);
      else held.set(caller, own);
    },
  };
}
