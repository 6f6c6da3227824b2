import { join } from 'node:path';
import { BmadError } from '../../base/errors.ts';
import { ours } from '../../base/expected.ts';
import { chooseEmbedder } from '../../meaning/embedders/choose.ts';
import type { KitFiles } from '../../kit/memories/read-all.ts';
import type { MemorySetup } from './memory.ts';
import { keepCopying } from './daily-copies.ts';
import { isOnQdrant, NoDatabaseYet, openConfigured } from './open.ts';
import { otherStore, preparePlace, type MemoryPlace } from './place.ts';
import { embedPending, type Reembedding } from './reembed.ts';
import type { Analyser } from '../../meaning/analyser.ts';
import type { MemoryStore } from './engine.ts';
import type { Session } from './opened.ts';
import { TwoStores } from './two-stores.ts';

interface SessionSetup extends Pick<
  MemorySetup,
  'engine' | 'embedder' | 'embedders' | 'log' | 'background' | 'writes'
> {
  files: KitFiles;
  place: MemoryPlace;
  /** The folder of the daily copies. */
  copies: string;
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
  /** In use until there is a store: reading makes none. */
  #standIn: NoDatabaseYet | undefined;
  #prepared: Promise<void> | undefined;
  #retryAt = Number.POSITIVE_INFINITY;
  #resting = false;
  readonly reembedding: Reembedding = { running: false, done: 0, total: 0 };

  constructor(setup: SessionSetup) {
    this.#setup = setup;
  }

  /** The store for one who reads; where there is none yet, an empty one. */
  async get(signal?: AbortSignal): Promise<Session> {
    const standIn = this.#standIn;
    if (standIn !== undefined && (await standIn.isMade()) && this.#standIn === standIn) this.#leaveStandIn();
    return this.#current(false, signal);
  }

  /** The store for one who writes, made where there is none. */
  async toWrite(signal?: AbortSignal): Promise<Session> {
    if (!this.#setup.writes) return this.get(signal);
    this.#prepared ??= preparePlace(this.#setup.place);
    await this.#prepared.catch((error: unknown) => {
      this.#prepared = undefined;
      throw error;
    });
    // A reader may be opening one just now.
    await this.#session?.catch(() => undefined);
    if (this.#standIn !== undefined) this.#leaveStandIn();
    return this.#current(true, signal);
  }

  #leaveStandIn(): void {
    this.#standIn = undefined;
    this.#session = undefined;
  }

  async #current(makes: boolean, signal?: AbortSignal): Promise<Session> {
    if (performance.now() > this.#retryAt) this.#session = undefined;
    const opened = (this.#session ??= this.#open(makes, signal));
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
    this.#session = this.#session?.then(({ store }) => ({ store, embedder: undefined, troubles }));
  }

  async #open(makes: boolean, signal?: AbortSignal): Promise<Session> {
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
    const { engine, writes, log } = this.#setup;
    const own = await openConfigured(engine, place.folder, options, makes, {
      writes,
      remake: () => preparePlace(place),
      onMoved: (what) => log.warn(what),
    });
    this.#standIn = own instanceof NoDatabaseYet ? own : undefined;
    this.#keepCopies(own);
    const also = isOnQdrant(engine) ? undefined : await otherStore(place);
    const other =
      also === undefined
        ? undefined
        : await openConfigured(engine, also, options, false, { writes }).catch(
            ours(({ line }) => void troubles.push(`The memories in ${also} were not searched: ${line}`)),
          );
    const store = other === undefined ? own : new TwoStores(own, other, options);
    // Calls may still be using the one before.
    this.#store?.leave();
    this.#store = store;
    const session = { store, embedder, troubles };
    if (this.#resting) store.leave();
    else if (this.#setup.background) this.#fillIn(session, place.folder);
    return session;
  }

  #keepCopies(store: MemoryStore): void {
    const { writes, background, log, copies } = this.#setup;
    if (!writes || this.#resting || store instanceof NoDatabaseYet) return;
    keepCopying(store, copies, { signal: this.#closing.signal, log, atOnce: !background });
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

  async held(): Promise<MemoryStore | undefined> {
    await this.#session?.catch(() => undefined);
    return this.#store?.held();
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
