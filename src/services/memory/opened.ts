import { BmadError, quoted } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { refuseSecret, secretsOut, shownText } from '../../base/secrets/scanner.ts';
import { say, t } from '../../base/text/message.ts';
import { byteLength, utcOf } from '../../base/text/text.ts';
import { isMemoryId } from '../../base/values.ts';
import { type KitEntry, memoryId, memoryName, placeId } from '../../kit/memories/entries.ts';
import { lineText } from '../../kit/memories/write.ts';
import type { KitFiles } from '../../kit/memories/read-all.ts';
import type { Analyser } from '../../meaning/analyse.ts';
import { type Embedder, normalized } from '../../meaning/vectors.ts';
import type { MemoryEntry } from '../../model/memory.ts';
import { termsOf } from './rank.ts';
import { MemoryStore } from './store.ts';

/** A memory, or what a file says like one. */
export interface Known {
  entry: MemoryEntry;
  /** Places in files of the project that have it. */
  sources: string[];
  /** Whether it is in the store; one that is only in a file is taken into it to be changed. */
  stored: boolean;
}

/** A store that is open, and what turns texts into vectors for it. */
export interface Session {
  store: MemoryStore;
  notes: readonly string[];
  /** Nothing when there is none, or when it does not work at the moment. */
  embedder: Embedder | undefined;
  troubles: readonly string[];
}

export interface OpenMemory {
  files: KitFiles;
  analyser: Analyser;
  /** The folder of the server's own files; for Qdrant it has only locks. */
  folder: string;
  /** The user's folder for what is kept of the project once more. */
  mirror(): Promise<string | undefined>;
  writes: boolean;
  hide(text: string): string;
  log: Log;
  /** For one who only reads: it makes nothing, and where there is no store it finds an empty one. */
  session(): Promise<Session>;
  /** With all lines; while many are taken in, it says how far that is. */
  sessionToWrite(tell?: (note: string) => void): Promise<Session>;
  /** Records that the embedder failed; only words are used until it is tried again. */
  embedderFailed(error: unknown): void;
}

/** Vectors where possible, or a note for the caller. A failing embedder is not a reason to refuse the call. */
export async function embedded(
  opened: OpenMemory,
  { embedder }: Pick<Session, 'embedder'>,
  texts: readonly string[],
  signal: AbortSignal | undefined,
): Promise<{ vectors: (Float32Array | undefined)[]; notes: string[] }> {
  const none = texts.map(() => undefined);
  if (embedder === undefined || texts.length === 0) return { vectors: none, notes: [] };
  try {
    return { vectors: await embedder.embed(texts, signal), notes: [] };
  } catch (error) {
    if (signal?.aborted === true) throw error;
    opened.embedderFailed(error);
    const reason = error instanceof Error ? error.message : t`it failed`;
    return { vectors: none, notes: [t`Words only, without meaning: ${reason}`] };
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

/** The vectors of file entries are computed in each process, so there is a limit to how many get one. */
const VECTORS = 2_000;
const UNDATED = '1970-01-01T00:00:00.000Z';

export const isUndated = ({ updatedAt }: MemoryEntry): boolean => updatedAt === UNDATED;

/** What is made of an entry's text, agent and tags when it is asked for: of ten thousand failures, a list asks for a few. */
interface Said {
  text: string;
  line: () => string;
  terms: () => readonly string[];
  id: () => string;
  vector?: Float32Array | undefined;
}

const late = <T>(make: () => T): (() => T) => {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
};

/** An entry of a file of the project, to be compared. */
export class KitCandidate {
  readonly from: KitEntry;
  readonly said: Said;
  /** An id that is not made of how the text begins. */
  ownId: string | undefined;
  readonly #entry: () => MemoryEntry;

  constructor(from: KitEntry, said: Said, project: string) {
    this.from = from;
    this.said = said;
    this.ownId = isMemoryId(from.copyOf ?? '') ? from.copyOf?.toLowerCase() : undefined;
    this.#entry = late(() => entryOf(this, project));
  }

  get entry(): MemoryEntry {
    return this.#entry();
  }

  /** Its text as a line: copies are known by it. */
  get line(): string {
    return this.said.line();
  }

  get place(): string {
    const { source, line } = this.from;
    return line === undefined ? source : `${source}:${line}`;
  }

  get dated(): boolean {
    return utcOf(this.from.date) !== undefined;
  }
}

function entryOf({ from, said, ownId }: KitCandidate, project: string): MemoryEntry {
  const { type, agent, text, tags, date } = from;
  const at = utcOf(date) ?? UNDATED;
  return {
    get id() {
      return ownId ?? said.id();
    },
    type,
    agent,
    text,
    tags: tags.map((tag) => tag.normalize('NFC')),
    project,
    createdAt: at,
    updatedAt: at,
    revision: 1,
  };
}

interface Index {
  from: readonly KitEntry[];
  /** What the vectors belong to: a model may be replaced under its name. */
  space: string | undefined;
  candidates: KitCandidate[];
  /** When a file has changed, most of what is in it has not. */
  said: ReadonlyMap<string, Said>;
}

const indexes = new WeakMap<OpenMemory, Index>();

export async function kitCandidates(
  opened: OpenMemory,
  embedder: Embedder | undefined,
): Promise<readonly KitCandidate[]> {
  const { files, analyser } = opened;
  const { app } = files.kit;
  const { entries } = await files.read();
  const known = indexes.get(opened);
  // Those who ask without an embedder do not look at vectors.
  const space = embedder === undefined ? known?.space : `${embedder.id}/${embedder.dim}`;
  if (known?.from === entries && known.space === space) return known.candidates;
  const before = known?.space === space ? known?.said : undefined;
  const said = new Map<string, Said>();
  const saidBy = (entry: KitEntry): Said => {
    const { agent, tags, text } = entry;
    const key = [agent, ...tags, text].join('\n');
    const made = said.get(key) ??
      before?.get(key) ?? {
        text,
        line: late(() => lineText(text)),
        terms: late(() => termsOf(analyser, entry)),
        id: late(() => memoryId(app, agent, text)),
      };
    said.set(key, made);
    return made;
  };
  const candidates = entries.map((entry) => new KitCandidate(entry, saidBy(entry), app));
  nameApart(candidates, app);
  if (embedder !== undefined) await addVectors([...said.values()], opened, embedder);
  indexes.set(opened, { from: entries, space, candidates, said });
  return candidates;
}

/** Two texts of files that begin alike get different ids. */
function nameApart(candidates: readonly KitCandidate[], app: string): void {
  // Where there are no copies, what ids are made of is enough.
  const isNamed = candidates.every(({ ownId }) => ownId === undefined);
  const first = new Map<string, KitCandidate>();
  for (const candidate of candidates) {
    const { from, ownId, said } = candidate;
    const { type, agent, source, text } = from;
    const key = `${type}/${ownId ?? (isNamed ? memoryName(app, agent, text) : said.id())}`;
    const other = first.get(key);
    if (other === undefined) first.set(key, candidate);
    else if (other.said !== said && other.line !== candidate.line)
      candidate.ownId = placeId(app, agent, source, text);
  }
}

async function addVectors(all: readonly Said[], opened: OpenMemory, embedder: Embedder): Promise<void> {
  const missing = all.slice(0, VECTORS).filter(({ vector }) => vector === undefined);
  if (missing.length === 0) return;
  const texts = missing.map(({ text }) => text);
  const { vectors } = await embedded(opened, { embedder }, texts, undefined);
  for (const [at, each] of missing.entries()) {
    const vector = vectors[at];
    each.vector = vector && normalized(vector);
  }
}

/** Shorter texts are removed by the tools that share the project's files. */
const SHORTEST = 10;
const LONGEST_BYTES = 100_000;

/** Control characters other than tab and line break; they end texts early in some stores and mean nothing here. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F]/g;
const HALF = /\p{Surrogate}/gu;

/**
 * A text as it may be kept: whole characters, no secrets, neither too short nor too long. The notes tell the caller what
 * was changed.
 */
export function cleanText(raw: string, hide: (text: string) => string): { text: string; notes: string[] } {
  if (byteLength(raw) > LONGEST_BYTES)
    throw new BmadError(
      'too_large',
      t`The text is ${byteLength(raw)} bytes long; a memory may be at most ${LONGEST_BYTES}.`,
      {
        subject: 'text',
        hint: t`Summarize what matters in a few sentences, and name the file it is in.`,
      },
    );
  const notes: string[] = [];
  let text = raw.replaceAll('\r\n', '\n').replaceAll('\r', '\n');
  if (CONTROL.test(text)) notes.push(t`Control characters were removed from the text.`);
  text = text.replace(CONTROL, '');
  if (HALF.test(text)) notes.push(t`Incomplete characters in the text were replaced.`);
  text = text.replace(HALF, '\uFFFD').trim();
  const { text: safe, found } = secretsOut(text, hide);
  if (found.length > 0) notes.push(t`Masked before storing: ${found.map((label) => say(label)).join(', ')}.`);
  if (characters(safe) < SHORTEST)
    throw new BmadError('invalid_input', t`The text ${quoted(safe)} has fewer than ${SHORTEST} characters.`, {
      subject: 'text',
      hint: t`Write a sentence that can be understood without this conversation.`,
    });
  return { text: safe, notes };
}

const TAG_LENGTH = 60;
const TAG_COUNT = 20;

/** Tags without repetitions. A grave accent would end a tag in the exported Markdown. */
export function cleanTags(raw: readonly string[]): string[] {
  const tags = [...new Set(raw.map((tag) => tag.normalize('NFC').trim()).filter((tag) => tag !== ''))];
  for (const tag of tags) refuseSecret(tag, 'tags');
  const wrong = tags.find((tag) => characters(tag) > TAG_LENGTH || /[`,\p{C}\u2028\u2029]/u.test(tag));
  if (wrong !== undefined)
    throw new BmadError('invalid_input', t`${quoted(wrong)} cannot be a tag.`, {
      subject: 'tags',
      hint: t`A tag has at most ${TAG_LENGTH} characters, and no commas or backticks.`,
    });
  if (tags.length <= TAG_COUNT) return tags;
  throw new BmadError(
    'invalid_input',
    t`A memory has at most ${TAG_COUNT} tags; ${tags.length} were given.`,
    {
      subject: 'tags',
      hint: t`Keep the ones someone would search for.`,
    },
  );
}

function characters(text: string): number {
  return Array.from(text).length;
}
