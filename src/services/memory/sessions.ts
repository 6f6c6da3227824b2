import { join } from 'node:path';
import { BmadError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { chooseEmbedder, type EmbedderSettings } from '../../meaning/embedders/choose.ts';
import { openConfigured, type EngineSettings } from './engine-settings.ts';
import type { KitFiles } from '../../kit/memories/read-all.ts';
import { isUsed, placeOf, preparePlace } from './place.ts';
import { embedPending, type Reembedding } from './reembed.ts';
import type { Analyser, MemoryStore } from './store.ts';
import type { Session } from './world.ts';

export interface SessionSetup {
  files: KitFiles;
  state: string;
  engine: EngineSettings;
  embedder: EmbedderSettings;
  analyser: Analyser;
  log: Log;
  /** Whether what has no vector gets one while nobody waits for it; a command does only what it was asked for. */
  background: boolean;
  /** Whether folders may be made. */
  writes: boolean;
}

/** How long a failed embedder is left alone before it is asked again. */
const RETRY_MS = 60_000;

/** Keeps one store open with the embedder that works at the moment, and changes over when that changes. */
export class Sessions {
  readonly #setup: SessionSetup;
  readonly #closing = new AbortController();
  /** Stores that others may still be using. */
  readonly #opened: MemoryStore[] = [];
  #session: Promise<Session> | undefined;
  /** The folder that had no store when it was opened by one who makes none. */
  #standIn: string | undefined;
  #retryAt = Number.POSITIVE_INFINITY;
  readonly reembedding: Reembedding = { running: false, done: 0, total: 0 };

  constructor(setup: SessionSetup) {
    this.#setup = setup;
  }

  async get(signal?: AbortSignal): Promise<Session> {
    if (performance.now() > this.#retryAt || (await this.#isMade())) this.#session = undefined;
    const opened = (this.#session ??= this.#open(signal));
    try {
      return await opened;
    } catch (error) {
      // What could not be opened now may open the next time.
      if (this.#session === opened) this.#session = undefined;
      throw error;
    }
  }

  /** Nobody waits again for an embedder that has just failed: words go on alone until it is asked once more. */
  embedderFailed(error: unknown): void {
    const reason = error instanceof Error ? error.message : 'it failed.';
    this.#setup.log.warn('the embedder failed', { error: reason });
    this.#retryAt = performance.now() + RETRY_MS;
    if (this.#session !== undefined)
      this.#session = withoutEmbedder(this.#session, `Words only, without meaning: ${reason}`);
  }

  /** Who may not make a store gets an empty one where there is none; that ends when somebody else has made it. */
  async #isMade(): Promise<boolean> {
    const folder = this.#standIn;
    if (folder === undefined || !(await isUsed(folder)) || this.#standIn !== folder) return false;
    this.#standIn = undefined;
    return true;
  }

  async #open(signal?: AbortSignal): Promise<Session> {
    const { files, state, analyser } = this.#setup;
    this.#retryAt = Number.POSITIVE_INFINITY;
    const troubles: string[] = [];
    const embedder = await chooseEmbedder(this.#setup.embedder, signal).catch((error: unknown) => {
      if (!(error instanceof BmadError)) throw error;
      troubles.push(`Words only, without meaning: ${error.message} ${error.hint ?? ''}`.trim());
      this.#retryAt = performance.now() + RETRY_MS;
      return undefined;
    });
    const place = placeOf(files.kit, state);
    if (this.#setup.writes) await preparePlace(place);
    else this.#standIn = (await isUsed(place.folder)) ? undefined : place.folder;
    const space = embedder === undefined ? undefined : { embedder: embedder.id, dim: embedder.dim };
    const store = await openConfigured(
      this.#setup.engine,
      place.folder,
      { project: files.kit.app, analyser, space },
      this.#setup.writes,
    );
    this.#opened.push(store);
    const session = { store, embedder, troubles };
    if (this.#setup.background) this.#fillIn(session, place.folder);
    return session;
  }

  #fillIn(session: Session, folder: string): void {
    const { signal } = this.#closing;
    embedPending(session, { lock: join(folder, 'embedding.lock'), signal, progress: this.reembedding }).catch(
      (error: unknown) => {
        if (!signal.aborted)
          this.#setup.log.warn('vectors could not be made', {
            error: error instanceof Error ? error.message : '',
          });
      },
    );
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#session?.catch(() => undefined);
    await Promise.all(this.#opened.splice(0).map((store) => store.close().catch(() => undefined)));
  }
}

async function withoutEmbedder(session: Promise<Session>, trouble: string): Promise<Session> {
  const { store } = await session;
  return { store, embedder: undefined, troubles: [trouble] };
}
