import type { Log } from '../../base/log.ts';
import type { Embedder } from '../../meaning/embedder.ts';
import type { KitFiles } from '../../kit/memories/read-all.ts';
import type { Analyser } from '../../meaning/analyser.ts';
import type { MemoryStore } from './engine.ts';

/** A store that is open, and what turns texts into vectors for it. */
export interface Session {
  store: MemoryStore;
  /** Nothing when there is none, or when it does not work at the moment. */
  embedder: Embedder | undefined;
  /** Why meaning or the engine that was asked for is not in use, and what to do about it. */
  troubles: readonly string[];
}

/** What the parts of the memory service share. */
export interface OpenMemory {
  files: KitFiles;
  analyser: Analyser;
  /** The folder of the server's own files; for Qdrant it has only locks. */
  folder: string;
  /** Whether anything may be written; not in read-only mode. */
  writes: boolean;
  /** Removes the secrets of this environment from a text. */
  hide(text: string): string;
  log: Log;
  /** For one who only reads: it makes nothing, and where there is no store it finds an empty one. */
  session(signal?: AbortSignal): Promise<Session>;
  sessionToWrite(signal?: AbortSignal): Promise<Session>;
  /** Records that the embedder failed; only words are used until it is tried again. */
  embedderFailed(error: unknown): void;
}

/** Vectors where possible, or a note for the caller. A failing embedder is not a reason to refuse the call. */
export async function embedded(
  opened: OpenMemory,
  { embedder }: Session,
  texts: readonly string[],
  signal: AbortSignal | undefined,
): Promise<{ vectors: (Float32Array | undefined)[]; note?: string }> {
  const none = texts.map(() => undefined);
  if (embedder === undefined) return { vectors: none };
  try {
    return { vectors: await embedder.embed(texts, signal) };
  } catch (error) {
    if (signal?.aborted === true) throw error;
    opened.embedderFailed(error);
    const reason = error instanceof Error ? error.message : 'it failed';
    return { vectors: none, note: `Words only, without meaning: ${reason}` };
  }
}
