import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout } from 'node:timers/promises';

/** What is fetched once for all workers has a mark beside its place, with the process that does it, until it is there. */
const markOf = (place: string): string => `${place}.fetching`;

const LOOK_MS = 100;

/** Fetches what is not there yet, one thing after the other, while tests that need none of it begin. */
export function fetchAhead(wanted: readonly { place: string; fetch: () => Promise<unknown> }[]): void {
  const missing = wanted.filter(({ place }) => !existsSync(place));
  for (const { place } of missing) {
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(markOf(place), String(process.pid));
  }
  void (async () => {
    for (const { place, fetch } of missing) {
      // Whoever needs it tries again, and says what is wrong.
      await fetch().catch(() => undefined);
      rmSync(markOf(place), { force: true });
    }
  })();
}

/** Waits while another process fetches it. */
export async function fetchedElsewhere(place: string): Promise<void> {
  while (isUnderWay(place)) await setTimeout(LOOK_MS);
}

function isUnderWay(place: string): boolean {
  try {
    const by = Number(readFileSync(markOf(place), 'utf8'));
    return by !== process.pid && process.kill(by, 0);
  } catch {
    return false;
  }
}
