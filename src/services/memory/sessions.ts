import { dirname, join } from 'node:path';
import { BmadError } from '../../base/errors.ts';
import { chooseEmbedder } from '../../meaning/embedders/choose.ts';
import type { KitFiles } from '../../kit/memories/read-all.ts';
import type { MemorySetup } from './memory.ts';
import { openStore } from './open.ts';
import type { LinesPlace } from '../../kit/home.ts';
import type { Analyser } from '../../meaning/analyse.ts';
import type { MemoryStore } from './engine.ts';
import type { Session } from './opened.ts';
import { setImmediate } from 'node:timers/promises';
import { withLock } from '../../base/files/file-lock.ts';
import { jailOf } from '../../kit/kit-lock.ts';

interface SessionSetup extends Pick<
  MemorySetup,
  | 'kit'
  | 'state'
  | 'cache'
  | 'env'
  | 'engine'
  | 'embedder'
  | 'embedders'
  | 'log'
  | 'background'
  | 'writes'
  | 'thread'
> {
  files: KitFiles;
  place: LinesPlace;
  analyser: Analyser;
}

/** How long a failed embedder is left alone before it is asked again. */
const RETRY_MS = 60_000;

/** Keeps one store open with the embedder that works at the moment, and changes over when that changes. */
export class Sessions {
  readonly #setup: SessionSetup;
  readonly #closing = new AbortController();
  #store: MemoryStore | undefined;
  #session: Promise<Session> | undefined;
  #retryAt = Number.POSITIVE_INFINITY;
  #resting = false;
  readonly reembedding: Reembedding = { running: false, done: 0, total: 0 };

  constructor(setup: SessionSetup) {
    this.#setup = setup;
  }

  async get(signal?: AbortSignal): Promise<Session> {
    if (performance.now() > this.#retryAt) this.#session = undefined;
    const opened = (this.#session ??= this.#open(signal));
    try {
      return await opened;
    } catch (error) {
      // What could not be opened now may open the next time.
      if (this.#session === opened) this.#session = undefined;
      throw error;
    }
  }

  /** No one waits again for an embedder that has just failed: only words are used until it is tried again. */
  embedderFailed(failure: unknown): void {
    const reason = failure instanceof Error ? failure.message : 'it failed.';
    this.#setup.log.warn('the embedder failed', { error: reason });
    this.#retryAt = performance.now() + RETRY_MS;
    this.#setup.embedders?.failed();
    const troubles = [`Words only, without meaning: ${reason}`];
    this.#session = this.#session?.then(({ store, notes }) => ({
      store,
      notes,
      embedder: undefined,
      troubles,
    }));
  }

  async #open(signal?: AbortSignal): Promise<Session> {
    const { files, analyser, place } = this.#setup;
    this.#retryAt = Number.POSITIVE_INFINITY;
    const troubles: string[] = [];
    const choose = this.#setup.embedders?.get ?? (() => chooseEmbedder(this.#setup.embedder, signal));
    const embedder = await choose().catch((error: unknown) => {
      if (!(error instanceof BmadError)) throw error;
      troubles.push(`Words only, without meaning: ${error.message} ${error.hint ?? ''}`.trim());
      this.#retryAt = performance.now() + RETRY_MS;
      return undefined;
    });
    const space = embedder === undefined ? undefined : { embedder: embedder.id, dim: embedder.dim };
    const options = { project: files.kit.app, analyser, space };
    const notes: string[] = [];
    const store = await openStore(this.#setup, options, (note) => notes.push(note));
    // Calls may still be using the one before.
    this.#store?.leave();
    this.#store = store;
    const session = { store, notes, embedder, troubles };
    if (this.#resting) store.leave();
    else if (this.#setup.background) this.#fillIn(session, place.folder);
    return session;
  }

  /** What the index lacks at the moment, in words. */
  making(): string | undefined {
    return this.#store?.making();
  }

  #fillIn(session: Session, folder: string): void {
    const { signal } = this.#closing;
    embedPending(session, { lock: join(folder, 'embedding.lock'), signal, progress: this.reembedding }).catch(
      (error: unknown) => {
        if (!signal.aborted)
          this.#setup.log.warn('vectors could not be computed', {
            error: error instanceof Error ? error.message : '',
          });
      },
    );
  }

  /** Gives back what it holds as soon as the calls that use it have ended. */
  rest(): void {
    this.#resting = true;
    this.#closing.abort();
    this.#store?.leave();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#session?.catch(() => undefined);
    await this.#store?.close().catch(() => undefined);
  }
}

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
