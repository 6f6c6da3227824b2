import type { Log } from '../../base/log.ts';
import type { Embedder } from '../../meaning/vectors.ts';
import type { KitFiles } from '../../kit/memories/read-all.ts';
import type { Analyser } from '../../meaning/analyse.ts';
import type { MemoryStore } from './engine.ts';
import type { MemoryEntry } from '../../model/memory.ts';
import { shownText } from '../../base/secrets/scanner.ts';

/** A store that is open, and what turns texts into vectors for it. */
export interface Session {
  store: MemoryStore;
  /** What was left out when it was opened, and why. */
  notes: readonly string[];
  /** Nothing when there is none, or when it does not work at the moment. */
  embedder: Embedder | undefined;
  /** Why meaning is not in use, and what to do about it. */
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
  /** With all lines; while many are taken in, it says how far that is. */
  sessionToWrite(signal?: AbortSignal, tell?: (note: string) => void): Promise<Session>;
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

/** Of what was forgotten in a version before, only that it was forgotten is known. */
export const isEmptied = ({ text, forgottenAt }: MemoryEntry): boolean =>
  text === '' && forgottenAt !== undefined;

const EMPTIED = '(forgotten before lines; its text was not kept)';

/**
 * What is remembered, as it may leave the service. What we remember was masked before it was kept; but files are written
 * by hand and by other tools, which check nothing, and a shared store is filled by others too.
 */
export function shownBy({ hide }: Pick<OpenMemory, 'hide'>) {
  const text = (given: string): string => shownText(given, hide);
  /** For earlier wordings and everything else that has a text. */
  const wording = <T extends { text: string; agent?: string; tags?: readonly string[] }>(given: T): T => ({
    ...given,
    text: text(given.text),
    ...(given.agent === undefined ? {} : { agent: text(given.agent) }),
    ...(given.tags === undefined ? {} : { tags: given.tags.map(text) }),
  });
  const entry = (given: MemoryEntry): MemoryEntry =>
    isEmptied(given) ? { ...given, text: EMPTIED } : wording(given);
  return { text, wording, entry };
}
