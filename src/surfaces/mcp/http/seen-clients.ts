import { whenOver } from '../../../base/http/http-route.ts';
import { clientIn } from '../client-name.ts';

/** Clients of the 2026 protocol have no session: who has said nothing for so long has left, unless it listens. */
const GONE_MS = 5 * 60_000;
const MOST = 100;

interface Seen {
  last: number;
  /** Streams of changes that are open. */
  streams: number;
}

/** The clients of the 2026 protocol that have called of late, by the name they give themselves. */
export function createSeen(now: () => number = Date.now) {
  const known = new Map<string, Seen>();

  function leaveOut(): void {
    const since = now() - GONE_MS;
    for (const [name, { last, streams }] of known) if (streams === 0 && last < since) known.delete(name);
  }

  return {
    /** A message has come; one that opens a stream keeps its client until that is over. */
    heard(message: unknown, stream?: AbortSignal): void {
      const name = clientIn(message);
      if (name === undefined) return;
      if (!known.has(name) && known.size >= MOST) leaveOut();
      const entry = known.get(name) ?? { last: 0, streams: 0 };
      if (!known.has(name) && known.size >= MOST) return;
      known.set(name, entry);
      entry.last = now();
      if (stream === undefined) return;
      entry.streams += 1;
      whenOver(stream, () => {
        entry.streams -= 1;
        entry.last = now();
      });
    },
    clients(): { name: string; last: number }[] {
      leaveOut();
      return [...known].map(([name, { last, streams }]) => ({ name, last: streams > 0 ? now() : last }));
    },
  };
}
