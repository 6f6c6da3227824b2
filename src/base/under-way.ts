/** What is under way in this process, for heavy work to stand back: see pace.ts. Small, as every start loads it. */
interface UnderWay {
  /** Calls under way, by the signal of each, and when they began. */
  short: Map<AbortSignal, number>;
  /** What waits in the lane of each caller that has heavy work under way. */
  lanes: Map<string, (() => void)[]>;
}

/** The programs consist of several files, each with its own copy of this one: the calls of all of them are meant. */
const SHARED = Symbol.for('bmad-mcp-server: calls under way');

export function shared(): UnderWay {
  const all = globalThis as { [SHARED]?: UnderWay };
  return (all[SHARED] ??= { short: new Map(), lanes: new Map() });
}

/** Runs a call, before which heavy work stands back. */
export async function underWay<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const { short } = shared();
  short.set(signal, performance.now());
  try {
    return await work();
  } finally {
    short.delete(signal);
  }
}

/** Whether any call is being answered. */
export function isCallUnderWay(): boolean {
  const { short, lanes } = shared();
  return short.size > 0 || lanes.size > 0;
}
