import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { readLog } from '../../../base/files/file-log.ts';
import { jsonObject } from '../../../base/parse/json.ts';
import { BmadError } from '../../../base/errors.ts';
import type { MemoryEntry } from '../../../model/memory.ts';
import type { Decision, Stored } from '../change.ts';
import { newerStore } from '../place.ts';
import { spaceOf, spaceText, termsOf } from '../rank.ts';
import { keyText } from '../select.ts';
import type { Analyser } from '../../../meaning/analyser.ts';
import { isSoundEntry, isSoundRevision, isSoundVector, MOST_BYTES } from '../sound.ts';
import { REVISIONS_KEPT, type VectorSpace } from '../store.ts';

export const LOG_VERSION = 1;

/** Entries whose words are looked at in one piece. */
const WORDS_AT_ONCE = 200;

/** A memory as it is after this line; with `reset` its earlier vectors no longer apply. */
interface Put {
  put: Stored;
  reset: boolean;
  space?: string;
  vector?: string;
}

/** A vector for a memory, if it still is at that revision. */
interface Vector {
  key: string;
  revision: number;
  space: string;
  vector: string;
}

interface StoredLine extends Stored {
  vectors: Map<string, Float32Array>;
  terms: string[] | undefined;
}

/** What the lines of a log come to. */
export class LogState {
  readonly kept = new Map<string, StoredLine>();
  readonly #analyser: Analyser;
  readonly #frequency = new Map<string, number>();
  /** Entries whose words have not been looked at; most runs never search. */
  readonly #unread = new Set<string>();
  lines = 0;
  damaged = 0;
  /** The name of the log, which stays when it is rewritten; older versions gave it none. */
  store: string | undefined;
  /** Other logs whose memories it has taken over. */
  took: string[] = [];

  constructor(analyser: Analyser) {
    this.#analyser = analyser;
  }

  /** Takes in a line of the file at `path`. One that cannot be read is counted and left. */
  take(path: string, text: string): void {
    const first = this.lines === 0;
    this.lines++;
    const line = jsonObject(text);
    if (line === undefined) {
      if (first) throw notALog(path);
      this.damaged++;
      return;
    }
    if (first) {
      if (line['log'] !== 'bmad-memory' || typeof line['version'] !== 'number') throw notALog(path);
      if (line['version'] > LOG_VERSION) throw newerStore(path);
      this.store = typeof line['store'] === 'string' ? line['store'] : undefined;
      this.took = Array.isArray(line['took']) ? line['took'].map(String) : [];
      return;
    }
    if (isPut(line)) this.#put(line);
    else if (isVector(line)) this.#vector(line);
    else this.damaged++;
  }

  #put({ put, reset, space, vector }: Put): void {
    const key = keyText(put.entry);
    const before = this.kept.get(key);
    const hasOtherWords = reset || before?.entry.tags.join('\0') !== put.entry.tags.join('\0');
    if (before?.terms !== undefined && hasOtherWords) this.#count(before.terms, -1);
    const kept: StoredLine = {
      ...put,
      vectors: reset || before === undefined ? new Map() : before.vectors,
      terms: hasOtherWords ? undefined : before?.terms,
    };
    if (space !== undefined && vector !== undefined) kept.vectors.set(space, decoded(vector));
    if (kept.terms === undefined) this.#unread.add(key);
    this.kept.set(key, kept);
  }

  /** Whether this log has taken the place of another one, and does not have what that had. */
  lacks({ store }: LogState): boolean {
    return store !== undefined && store !== this.store && !this.took.includes(store);
  }

  /** Takes in what another log had; the newer of two versions stays. */
  merge(other: LogState): void {
    for (const [key, { entry, revisions, vectors }] of other.kept) {
      const own = this.kept.get(key)?.entry;
      if (own !== undefined && own.updatedAt >= entry.updatedAt) continue;
      this.#put({ put: { entry, revisions }, reset: true });
      for (const [space, vector] of vectors) this.kept.get(key)?.vectors.set(space, vector);
    }
    if (other.store !== undefined) this.took.push(other.store);
  }

  /** Removed memories disappear from the log only when it is rewritten. */
  drop(key: string): void {
    const { terms } = this.kept.get(key) ?? {};
    if (terms !== undefined) this.#count(terms, -1);
    this.kept.delete(key);
  }

  #vector({ key, revision, space, vector }: Vector): void {
    const kept = this.kept.get(key);
    if (kept !== undefined && kept.entry.revision === revision) kept.vectors.set(space, decoded(vector));
  }

  /** How many memories have a word. */
  frequency(term: string): number {
    this.#readSome(Infinity);
    return this.#frequency.get(term) ?? 0;
  }

  terms(key: string): readonly string[] {
    this.#readSome(Infinity);
    return this.kept.get(key)?.terms ?? [];
  }

  /** Looks at the words of all entries, and lets others have their turn now and then. */
  async readWords(): Promise<void> {
    while (this.#unread.size > 0) {
      this.#readSome(WORDS_AT_ONCE);
      await setImmediate();
    }
  }

  #readSome(most: number): void {
    let left = most;
    for (const key of this.#unread) {
      if (left-- <= 0) return;
      this.#unread.delete(key);
      const kept = this.kept.get(key);
      if (kept === undefined) continue;
      kept.terms = termsOf(this.#analyser, kept.entry);
      this.#count(kept.terms, 1);
    }
  }

  #count(terms: readonly string[], by: number): void {
    for (const term of new Set(terms)) this.#frequency.set(term, (this.#frequency.get(term) ?? 0) + by);
  }

  *entries(): Generator<MemoryEntry> {
    for (const { entry } of this.kept.values()) yield entry;
  }

  /** The shortest log with the same meaning. */
  *compact(): Generator<string> {
    yield headerLine(this.store, this.took);
    for (const { entry, revisions, vectors } of this.kept.values()) {
      yield JSON.stringify({ put: { entry, revisions }, reset: true } satisfies Put);
      for (const [space, vector] of vectors) yield vectorLine(entry, space, vector);
    }
  }
}

/** The first line of a log: a new one gets a name, so that another in its place can be told from itself. */
export function headerLine(store: string = randomUUID(), took: readonly string[] = []): string {
  return JSON.stringify({
    log: 'bmad-memory',
    version: LOG_VERSION,
    store,
    ...(took.length === 0 ? {} : { took }),
  });
}

export function putLine(
  { next, vector, textChanged }: Decision & { next: Stored },
  space: VectorSpace | undefined,
): string {
  const line: Put = { put: { entry: next.entry, revisions: next.revisions }, reset: textChanged };
  if (vector === undefined || space === undefined) return JSON.stringify(line);
  return JSON.stringify({ ...line, space: spaceText(space), vector: encoded(vector) });
}

export function vectorLine(entry: MemoryEntry, space: string, vector: Float32Array): string {
  return JSON.stringify({
    key: keyText(entry),
    revision: entry.revision,
    space,
    vector: encoded(vector),
  } satisfies Vector);
}

function isPut(line: Record<string, unknown>): line is Record<string, unknown> & Put {
  const put = line['put'] as Partial<Stored> | null | undefined;
  return (
    isSoundEntry(put?.entry) &&
    Array.isArray(put?.revisions) &&
    put.revisions.length <= REVISIONS_KEPT &&
    put.revisions.every(isSoundRevision) &&
    (line['vector'] === undefined || isVectorText(line['space'], line['vector']))
  );
}

function isVector(line: Record<string, unknown>): line is Record<string, unknown> & Vector {
  return typeof line['key'] === 'string' && isVectorText(line['space'], line['vector']);
}

/** Whether it has as many numbers as its space says, and those can be compared. */
function isVectorText(space: unknown, vector: unknown): boolean {
  if (typeof space !== 'string' || typeof vector !== 'string') return false;
  if (space.length > MOST_BYTES.name || vector.length > 2 * MOST_BYTES.vector) return false;
  const numbers = decoded(vector);
  return numbers.length === spaceOf(space)?.dim && isSoundVector(numbers);
}

function encoded(vector: Float32Array): string {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64');
}

function decoded(text: string): Float32Array {
  const bytes = Uint8Array.from(Buffer.from(text, 'base64'));
  return new Float32Array(bytes.buffer, 0, bytes.length >> 2);
}

/** What is in a log; throws unless every line of it can be read. */
export async function checkedLog(path: string, analyser: Analyser): Promise<LogState> {
  const state = new LogState(analyser);
  await readLog(
    path,
    undefined,
    () => undefined,
    (line) => state.take(path, line),
  );
  if (state.damaged > 0 || state.lines === 0) throw damagedLog(path, state.damaged);
  return state;
}

/** Before the log is rewritten, which would lose what cannot be read. */
export function damagedLog(path: string, damaged: number): BmadError {
  return new BmadError(
    'unavailable',
    damaged === 1
      ? `1 line of ${path} cannot be read, so it was not rewritten. Nothing was removed.`
      : `${damaged} lines of ${path} cannot be read, so it was not rewritten. Nothing was removed.`,
    { subject: path, hint: 'Keep a copy of the file, remove what cannot be read, then try again.' },
  );
}

function notALog(path: string): BmadError {
  return new BmadError('unavailable', `${path} is damaged or not a memory log. It was left unchanged.`, {
    subject: path,
    hint: `Move it elsewhere and import an export of the memories, or repair its first line: ${JSON.stringify({ log: 'bmad-memory', version: LOG_VERSION })}`,
  });
}
