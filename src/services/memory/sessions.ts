import { join } from 'node:path';
import { BmadError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { chooseEmbedder, type EmbedderSettings } from './embedders/choose.ts';
import { openStore, type EngineSettings } from './engines.ts';
import type { KitFiles } from './kit-files/read-all.ts';
import { placeOf, preparePlace } from './place.ts';
import { embedPending, type Reembedding } from './reembed.ts';
import type { Analyser } from './store.ts';
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
const RETRY_MS = 30_000;

/** Keeps one store open with the embedder that works at the moment, and changes over when that changes. */
export class Sessions {
  readonly #setup: SessionSetup;
  readonly #closing = new AbortController();
  #session: Promise<Session> | undefined;
  #triedAt = 0;
  #failed = false;
  readonly reembedding: Reembedding = { running: false, done: 0, total: 0 };

  constructor(setup: SessionSetup) {
    this.#setup = setup;
  }

  async get(signal?: AbortSignal): Promise<Session> {
    if (this.#failed && performance.now() - this.#triedAt > RETRY_MS) await this.#end();
    const opened = (this.#session ??= this.#open(signal));
    try {
      return await opened;
    } catch (error) {
      // What could not be opened now may open the next time.
      if (this.#session === opened) this.#session = undefined;
      throw error;
    }
  }

  /** The store is opened anew without it; a vector that was asked for in vain is waited for only once. */
  async embedderFailed(error: unknown): Promise<void> {
    this.#failed = true;
    this.#triedAt = performance.now();
    this.#setup.log.warn('the embedder failed', { error: error instanceof Error ? error.message : '' });
  }

  async #open(signal?: AbortSignal): Promise<Session> {
    const { files, state, analyser, log } = this.#setup;
    this.#triedAt = performance.now();
    const troubles: string[] = [];
    const embedder = await chooseEmbedder(this.#setup.embedder, signal).catch((error: unknown) => {
      if (!(error instanceof BmadError)) throw error;
      troubles.push(`Words only, without meaning: ${error.message} ${error.hint ?? ''}`.trim());
      return undefined;
    });
    this.#failed = troubles.length > 0;
    const place = placeOf(files.kit, state);
    if (this.#setup.writes) await preparePlace(place);
    const store = await openStore(this.#setup.engine, place.folder, {
      project: files.kit.app,
      analyser,
      space: embedder === undefined ? undefined : { embedder: embedder.id, dim: embedder.dim },
    });
    const session = { store, embedder, troubles };
    if (this.#setup.background && embedder !== undefined)
      void embedPending(session, {
        lock: join(place.folder, 'embedding.lock'),
        signal: this.#closing.signal,
        progress: this.reembedding,
      }).catch((error: unknown) => {
        if (!this.#closing.signal.aborted)
          log.warn('vectors could not be made', { error: error instanceof Error ? error.message : '' });
      });
    return session;
  }

  async #end(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    await session?.then(({ store }) => store.close()).catch(() => undefined);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#end();
  }
}
