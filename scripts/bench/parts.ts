/** A part of the benchmark that could not be measured, and what it said. */
export interface Failure {
  part: string;
  reason: string;
}

/** Runs one part after the other: one that fails is reported, and the others are measured all the same. */
export class Parts {
  readonly failures: Failure[] = [];
  /** Seconds that each part took. */
  readonly took: [part: string, seconds: number][] = [];
  readonly #say: (line: string) => void;

  constructor(say: (line: string) => void) {
    this.#say = say;
  }

  async measured<T>(part: string, work: () => Promise<T>): Promise<T | undefined> {
    this.#say(part);
    const began = performance.now();
    try {
      return await work();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#say(`${part} could not be measured: ${reason}`);
      this.failures.push({ part, reason });
      return undefined;
    } finally {
      this.took.push([part, Math.round((performance.now() - began) / 1000)]);
    }
  }

  /** The same for several sizes of one thing. */
  async each<S, T>(
    sizes: readonly S[],
    partOf: (size: S) => string,
    work: (size: S) => Promise<T>,
  ): Promise<T[]> {
    const all: T[] = [];
    for (const size of sizes) {
      const one = await this.measured(partOf(size), () => work(size));
      if (one !== undefined) all.push(one);
    }
    return all;
  }
}
