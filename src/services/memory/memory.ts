import { join } from 'node:path';
import { BmadError, quoted } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { isMemoryId } from '../../base/memory-ids.ts';
import type { MemoryEntry, MemoryFilter, MemoryKey, MemoryRevision, MemoryType } from '../../model/memory.ts';
import { sameAgent } from '../../kit/agents.ts';
import { removeFromKitFiles, writeKitFiles, type KitWriting } from '../../kit/write.ts';
import { browse, type Browsed } from './browse.ts';
import { kitCandidates } from './kit-index.ts';
import { momentOf } from '../../base/local-time.ts';
import { recall, type Question, type Recall } from './recall.ts';
import { embedPending, type Reembedding } from './reembed.ts';
import { remember, writing, type Remembered, type ToRemember } from './remember.ts';
import type { Sessions } from './sessions.ts';
import { statusOf, type MemoryStatus } from './status.ts';
import type { MemoryPage, MemoryStats, Page, Upserted } from './store.ts';
import { cleanAgent, cleanTags, cleanText } from './text-rules.ts';
import type { Place } from './place.ts';
import { allEntries, exported, imported, type ImportDefaults, type Imported } from './transfer/transfer.ts';
import { embedded, type World } from './world.ts';

export interface MemoryParts {
  world: World;
  sessions: Sessions;
  place: Place;
  /** The user's folder for this project, which is in use unless the project has one of its own. */
  userFolder: string;
  log: Log;
}

/** One memory as a whole: what it says, what it said before, and where else it stands. */
export interface Found {
  entry: MemoryEntry;
  revisions: MemoryRevision[];
  sources: string[];
  /** Whether it is in the store; one that is only in a file is changed there. */
  stored: boolean;
}

export interface Selection {
  type?: MemoryType | undefined;
  agent?: string | undefined;
  tags?: readonly string[] | undefined;
  since?: string | undefined;
  until?: string | undefined;
  all?: boolean | undefined;
}

export interface Changed {
  entry: MemoryEntry;
  files: string[];
  notes: string[];
}

/** What a project remembers. */
export class Memory {
  readonly #parts: MemoryParts;
  readonly world: World;

  constructor(parts: MemoryParts) {
    this.#parts = parts;
    this.world = parts.world;
  }

  get place(): Place {
    return this.#parts.place;
  }

  get app(): string {
    return this.world.files.kit.app;
  }

  remember(given: ToRemember, signal?: AbortSignal): Promise<Remembered> {
    return remember(this.world, given, signal);
  }

  recall(question: Question, signal?: AbortSignal): Promise<Recall> {
    return recall(this.world, question, signal);
  }

  /** All of a type, in the store and in files, newest first; of one agent under any of its names. */
  browse(type: MemoryType, agents?: readonly string[]): Promise<{ entries: Browsed[]; notes: string[] }> {
    return browse(this.world, type, agents);
  }

  async list(selection: Selection, page: Page): Promise<MemoryPage> {
    return (await this.world.session()).store.list(await this.filterOf(selection), page);
  }

  async count(selection: Selection): Promise<number> {
    return (await this.world.session()).store.count(await this.filterOf(selection));
  }

  async stats(): Promise<MemoryStats> {
    return (await this.world.session()).store.stats();
  }

  status(): Promise<MemoryStatus> {
    return statusOf(this.#parts);
  }

  /** By its exact id; an id in two types needs the type. */
  async get(id: string, type?: MemoryType): Promise<Found> {
    const wanted = exactId(id);
    const { store } = await this.world.session();
    const found = (await store.find(wanted)).filter((entry) => type === undefined || entry.type === type);
    const [entry] = found;
    const copies = await kitCandidates(this.world, undefined);
    const own = copies.filter(
      (copy) => copy.entry.id === wanted && (type ?? copy.entry.type) === copy.entry.type,
    );
    const sources = own.map(({ source, line }) => (line === undefined ? source : `${source}:${line}`));
    if (found.length > 1)
      throw new BmadError('ambiguous', `${found.length} memories have the id ${wanted}.`, {
        subject: wanted,
        suggestions: found.map((each) => each.type),
        hint: 'Give the type as well.',
      });
    if (entry !== undefined) return { entry, revisions: await store.revisions(entry), sources, stored: true };
    const [copy] = own;
    if (copy !== undefined) return { entry: copy.entry, revisions: [], sources, stored: false };
    throw new BmadError('not_found', `There is no memory with the id ${quoted(id)}.`, {
      subject: id.slice(0, 100),
      hint: 'recall_structured and "list" of manage_memories give ids.',
    });
  }

  async update(
    id: string,
    type: MemoryType | undefined,
    change: { text?: string | undefined; tags?: readonly string[] | undefined; agent?: string | undefined },
    signal?: AbortSignal,
  ): Promise<Upserted & Omit<Changed, 'entry'>> {
    const { entry: before } = await this.#own(id, type);
    const text = change.text === undefined ? undefined : cleanText(change.text, this.world.hide);
    const session = await this.world.session(signal);
    const vectors = text === undefined ? undefined : await embedded(this.world, session, [text.text], signal);
    const result = await session.store.update(before, {
      text: text?.text,
      tags: change.tags === undefined ? undefined : cleanTags(change.tags),
      agent: change.agent === undefined ? undefined : cleanAgent(change.agent),
      at: new Date().toISOString(),
      vector: vectors?.vectors[0],
    });
    const mode = session.embedder === undefined ? 'local' : 'semantic';
    const { files, problems } = await writeKitFiles(await this.#writing(), result.entry, {
      before,
      mode,
    });
    const note = vectors?.note === undefined ? [] : [vectors.note];
    return { ...result, files, notes: [...(text?.notes ?? []), ...note, ...problems] };
  }

  /** Takes it out of every answer, and its copies out of the project's files. `restore` is the undo. */
  async forget(id: string, type?: MemoryType): Promise<Changed> {
    const { entry } = await this.#own(id, type);
    const { store } = await this.world.session();
    const [gone] = await store.forget([entry], new Date().toISOString());
    const { files, problems } = await removeFromKitFiles(await this.#writing(), entry);
    return { entry: gone ?? entry, files, notes: problems };
  }

  async restore(id: string, type?: MemoryType): Promise<Changed> {
    const { entry } = await this.#own(id, type);
    const { store, embedder } = await this.world.session();
    const [back] = await store.restore([entry]);
    if (back === undefined) return { entry, files: [], notes: ['It was not forgotten.'] };
    const mode = embedder === undefined ? 'local' : 'semantic';
    const { files, problems } = await writeKitFiles(await writing(this.world), back, { mode });
    return { entry: back, files, notes: problems };
  }

  /** Marks it as replaced: it stays, and is left out of answers that do not ask for it. */
  async supersede(id: string, by: string | undefined, type?: MemoryType): Promise<Changed> {
    const { entry } = await this.#own(id, type);
    const { store } = await this.world.session();
    const successor = by === undefined ? undefined : exactId(by);
    if (successor === entry.id)
      throw new BmadError('invalid_input', 'A memory cannot replace itself.', {
        subject: 'by',
        hint: 'To change what it says, use "update".',
      });
    if (successor !== undefined && (await store.find(successor)).length === 0)
      throw new BmadError('not_found', `There is no memory with the id ${quoted(successor)}.`, {
        subject: 'by',
        hint: 'Remember the new text first, then give its id.',
      });
    const marked = await store.supersede(entry, successor, new Date().toISOString());
    const { files, problems } = await removeFromKitFiles(await this.#writing(), entry, { keepLine: true });
    return { entry: marked, files, notes: problems };
  }

  /** Makes the vectors that are missing, now, and waits for it. */
  async reindex(tell: (progress: Reembedding) => void, signal: AbortSignal): Promise<Reembedding> {
    const session = await this.world.session(signal);
    const progress: Reembedding = { running: false, done: 0, total: 0 };
    await embedPending(session, {
      lock: join(this.world.folder, 'embedding.lock'),
      signal,
      progress,
      tell,
    });
    const { total, embedded: done } = await session.store.embedding();
    return { running: false, done, total };
  }

  async exported(
    format: 'markdown' | 'jsonl',
    selection: Selection,
  ): Promise<{ text: string; count: number }> {
    return exported(this.world, format, await this.filterOf(selection));
  }

  imported(
    text: string,
    defaults: ImportDefaults,
    call: { signal: AbortSignal; progress(message: string): void },
  ): Promise<Imported> {
    return imported(this.world, text, defaults, call);
  }

  async filterOf({ type, agent, tags, since, until, all }: Selection): Promise<MemoryFilter> {
    return {
      types: type === undefined ? undefined : [type],
      agents: agent === undefined ? undefined : sameAgent(await this.world.files.agents(), agent),
      tagsAll: tags,
      since: since === undefined ? undefined : momentOf(since, 'first'),
      until: until === undefined ? undefined : momentOf(until, 'last'),
      includeSuperseded: all,
      includeForgotten: all,
    };
  }

  close(): Promise<void> {
    return this.#parts.sessions.close();
  }

  async #writing(): Promise<KitWriting> {
    const { store } = await this.world.session();
    return { ...(await writing(this.world)), living: (type) => allEntries(store, { types: [type] }) };
  }

  /** A memory of the store; what is only in a file belongs to whoever wrote the file. */
  async #own(id: string, type: MemoryType | undefined): Promise<MemoryKey & { entry: MemoryEntry }> {
    const { entry, stored, sources } = await this.get(id, type);
    if (stored) return { ...entry, entry };
    throw new BmadError('forbidden', `${entry.id} stands only in ${sources.join(', ')}.`, {
      subject: entry.id,
      hint: 'Change it in that file; it is searched as it stands there.',
    });
  }
}

function exactId(id: string): string {
  if (isMemoryId(id)) return id.trim().toLowerCase();
  throw new BmadError('invalid_input', `${quoted(id)} is not the id of a memory.`, {
    subject: 'id',
    hint: 'An id looks like 728cfd79-2a3f-5f9a-ad84-d776ac131a77; recall_structured gives it.',
  });
}
