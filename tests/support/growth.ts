import process from 'node:process';

/** What a text is made of that is meant to make a pattern look at the same characters again and again. */
export const PUMPS: readonly string[] = [
  ...Array.from(' \t[(}<-_"\'#`|*\\/.:=a1\r'),
  ...'eyJ-¦{{¦<!--¦<item ¦://¦**¦- ¦a=¦ #¦[a]¦\\n'.split('¦'),
];

/** The same over many lines. */
export const LINE_PUMPS: readonly string[] = [
  ...'\n¦ \n¦\r\n¦- a\n¦### a\n¦## a\n\n¦|a|\n|-|\n¦```\n¦```yaml\n¦---\n¦<!--\n'.split('¦'),
  ...'- a:\n¦[a]\n¦"\n¦password: |\n¦-----BEGIN PRIVATE KEY-----\n¦* [ ] a\n¦<item\n¦\\\n'.split('¦'),
];

/** What comes before it: most of what looks at a line begins with something. */
export const HEADS: readonly string[] = '¦- [ ] [¦| a¦status: ¦password: "¦[2026-01-01] ['.split('¦');

/** A line that does not end as it should. */
export function hostileLine(head: string, pump: string, length: number): string {
  return `${head}${pump.repeat(Math.ceil(length / pump.length))}x`;
}

/** The same over many lines. */
export function hostileBlock(pump: string, length: number): string {
  return `## Stack\n${pump.repeat(Math.ceil(length / pump.length))}x`;
}

/** CPU time of this process for some work, in milliseconds: other work on the machine hardly counts. */
export function cpuOf(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** Four times the text takes four times as long; sixteen times if it is quadratic. */
const MOST_GROWTH = 9;
const ROUNDS = 4;

/**
 * Whether work on a text takes longer than in proportion to its length: nothing if it does not, else what was measured.
 * What takes less than `fast` milliseconds is not looked at any further. The least of several rounds counts, as all that
 * disturbs a measurement makes it longer, and nothing is said that is not seen on still longer texts too, which take
 * so long that no disturbance and no coarse clock can be the reason.
 */
export function growthOf(
  work: (text: string) => unknown,
  make: (length: number) => string,
  length: number,
  fast: number,
): string | undefined {
  const short = make(length);
  for (let round = 0; round < 3; round += 1) if (cpuOf(() => work(short)) < fast) return undefined;
  const long = make(4 * length);
  const first = compared(work, short, long, 4 * fast);
  return first === undefined ? undefined : compared(work, long, make(16 * length), 64 * fast);
}

function compared(
  work: (text: string) => unknown,
  short: string,
  long: string,
  fast: number,
): string | undefined {
  let [least, most] = [Infinity, Infinity];
  for (let round = 0; round < ROUNDS; round += 1) {
    most = Math.min(
      most,
      cpuOf(() => work(long)),
    );
    if (most < fast) return undefined;
    least = Math.min(
      least,
      cpuOf(() => work(short)),
    );
    if (most < least * MOST_GROWTH) return undefined;
  }
  return `${least.toFixed(1)} ms, and ${most.toFixed(1)} ms for four times the text`;
}
