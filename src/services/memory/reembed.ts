import { dirname } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { BmadError } from '../../base/errors.ts';
import { withLock } from '../../base/files/file-lock.ts';
import { jailOf } from '../../kit/kit-lock.ts';
import type { Session } from './opened.ts';

/** How far the work on vectors is. */
export interface Reembedding {
  running: boolean;
  done: number;
  total: number;
}

const BATCH = 64;

interface Work {
  lock: string;
  signal: AbortSignal;
  progress: Reembedding;
  /** Called after each batch. */
  tell?: (progress: Reembedding) => void;
}

/**
 * Gives a vector to every memory that has none of the embedder in use: after the embedder was changed, or where it
 * failed when the memory was made. One process at a time does it; the others find the vectors there.
 */
export async function embedPending(
  { store, embedder }: Session,
  { lock, signal, progress, tell }: Work,
): Promise<number> {
  if (embedder === undefined) return 0;
  // Whether any is without is known long before they are counted, and mostly none is.
  if ((await store.pending({ limit: 1 })).entries.length === 0) return 0;
  const { total, embedded } = await store.embedding();
  try {
    return await withLock(lock, { waitMs: 0, signal, inside: jailOf(dirname(lock)) }, async () => {
      Object.assign(progress, { running: true, done: embedded, total });
      let made = 0;
      let after: string | undefined;
      try {
        do {
          signal.throwIfAborted();
          const page = await store.pending({ limit: BATCH, after });
          const vectors = await embedder.embed(
            page.entries.map(({ text }) => text),
            signal,
          );
          made += await store.setVectors(
            page.entries.map((entry, index) => ({
              key: entry,
              revision: entry.revision,
              vector: vectors[index] as Float32Array,
            })),
          );
          progress.done = embedded + made;
          tell?.(progress);
          // The list advances as vectors arrive; the mark skips those that could not be computed.
          after = page.next;
          await setImmediate();
        } while (after !== undefined);
      } finally {
        progress.running = false;
      }
      return made;
    });
  } catch (error) {
    // Another process is at it.
    if (error instanceof BmadError && error.reason === 'locked') return 0;
    throw error;
  }
}
