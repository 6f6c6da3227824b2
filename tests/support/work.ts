/** How much processor time a piece of work takes, in microseconds. What else the machine does is not in it. */
export function cpuOf(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

/** Less than this is more the collector's doing than that of the work. */
const NOISE = 1_000;

/**
 * How many times the processor time it takes when there is ten times as much to do: about ten if it grows as the input
 * does, about a hundred if it grows with its square.
 */
export function growth(work: (size: number) => unknown, size: number): number {
  work(size);
  const times = (count: number): number => Math.min(...[1, 2, 3].map(() => cpuOf(() => work(count))));
  return times(size * 10) / Math.max(times(size), NOISE);
}
