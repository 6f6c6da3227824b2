import { join } from 'node:path';
import { BmadError, quoted } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { isMemoryId } from '../../base/memory-ids.ts';
import type { MemoryEntry, MemoryFilter, MemoryKey, MemoryRevision, MemoryType } from '../../model/memory.ts';
import { sameAgent } from '../../kit/agents.ts';
import { browse, type Browsed } from './browse.ts';
import { withCopies } from './copies.ts';
import { kitCandidates } from './kit-index.ts';
import { momentOf } from '../../base/text/local-time.ts';
import { purge, type Purged, type ToPurge } from './purge.ts';
import { recall, type Question, type Recall } from './recall.ts';
import { embedPending, type Reembedding } from './reembed.ts';
import { remember, type Remembered, type ToRemember } from './remember.ts';
import { shownBy, type Shown } from './shown.ts';
import type { Sessions } from './sessions.ts';
import { statusOf, type MemoryStatus } from './status.ts';
import type { MemoryPage, MemoryStats, Page, Upserted } from './store.ts';
import { cleanAgent, cleanTags, cleanText } from './text-rules.ts';
import { hasTwoStores } from './open.ts';
import { isUsed, type Place } from './place.ts';
import { exported, imported, type ImportDefaults, type Imported } from './transfer/transfer.ts';
import { embedded, type Session, type World } from './world.ts';

export interface MemoryParts {
  world: World;
  sessions: Sessions;
  place: Place;
  /** The user's folder for this project, which is in use unless the project has one of its own. */
  userFolder: string;
  /** Whether the store is a server, so that the folder says nothing about it. */
  elsewhere: boolean;
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
  /** Everything leaves through this. */
  readonly #shown: Shown;

  constructor(parts: MemoryParts) {
    this.#parts = parts;
    this.world = parts.world;
    this.#shown = shownBy(parts.world);
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

  /** Whether nothing can be known: there is no store, and no file of the project has an entry. */
  async isEmpty(): Promise<boolean> {
    const { files, folder } = this.world;
    return !this.#parts.elsewhere && !(await isUsed(folder)) && (await files.read()).entries.length === 0;
  }

  /** What to know about an answer of this memory that the answer itself does not say. */
  async notes(): Promise<string[]> {
    const { folder } = this.world;
    if (this.#parts.elsewhere || !(await hasTwoStores(folder))) return [];
    return [`Only one of two stores was searched: ${folder} has both. "bmad memory status" says what to do.`];
  }

  /** What is wrong with the project's own files: what stands in them may be missing from every answer. */
  async fileProblems(): Promise<readonly string[]> {
    return (await this.world.files.read()).problems;
  }

  /** All of a type, in the store and in files, newest first; of one agent under any of its names. */
  browse(type: MemoryType, agents?: readonly string[]): Promise<{ entries: Browsed[]; notes: string[] }> {
    return browse(this.world, type, agents);
  }

  async list(selection: Selection, page: Page): Promise<MemoryPage> {
    const { store } = await this.world.session();
    const { entries, next } = await store.list(await this.filterOf(selection), page);
    return { entries: entries.map(this.#shown.entry), next };
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
    const { entry, revisions, ...more } = await this.#found(id, type);
    const earlier = revisions.map((revision) => this.#shown.wording(revision));
    return { entry: this.#shown.entry(entry), revisions: earlier, ...more };
  }

  async #found(id: string, type?: MemoryType): Promise<Found> {
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
    const session = await this.world.sessionToWrite(signal);
    const vectors = text === undefined ? undefined : await embedded(this.world, session, [text.text], signal);
    const { files, problems, entry, previous, ...result } = await withCopies(
      this.world,
      session,
      before,
      () =>
        session.store.update(before, {
          text: text?.text,
          tags: change.tags === undefined ? undefined : cleanTags(change.tags),
          agent: change.agent === undefined ? undefined : cleanAgent(change.agent),
          at: new Date().toISOString(),
          vector: vectors?.vectors[0],
        }),
      { mode: modeOf(session) },
    );
    const note = vectors?.note === undefined ? [] : [vectors.note];
    return {
      ...result,
      entry: this.#shown.entry(entry),
      previous: previous === undefined ? undefined : this.#shown.wording(previous),
      files,
      notes: [...(text?.notes ?? []), ...note, ...problems],
    };
  }

  /** Takes it out of every answer, and its copies out of the project's files. `restore` is the undo. */
  async forget(id: string, type?: MemoryType): Promise<Changed> {
    const { entry } = await this.#own(id, type);
    return this.#changed(entry, async ({ store }) => {
      const [gone] = await store.forget([entry], new Date().toISOString());
      return gone ?? entry;
    });
  }

  async restore(id: string, type?: MemoryType): Promise<Changed> {
    const { entry } = await this.#own(id, type);
    if (entry.forgottenAt === undefined)
      return { entry: this.#shown.entry(entry), files: [], notes: ['It was not forgotten.'] };
    return this.#changed(entry, async ({ store }) => {
      const [back] = await store.restore([entry]);
      return back ?? entry;
    });
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
    return this.#changed(entry, () => store.supersede(entry, successor, new Date().toISOString()));
  }

  /** Removes forgotten memories for good. */
  purge(given: ToPurge): Promise<Purged> {
    return purge(this.world, { ...given, ids: given.ids?.map(exactId) });
  }

  /** Makes the vectors that are missing, now, and waits for it. */
  async reindex(tell: (progress: Reembedding) => void, signal: AbortSignal): Promise<Reembedding> {
    const session = await this.world.sessionToWrite(signal);
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

  /** A change that leaves the wording as it is. */
  async #changed(before: MemoryEntry, change: (session: Session) => Promise<MemoryEntry>): Promise<Changed> {
    const session = await this.world.sessionToWrite();
    const made = async (): Promise<{ entry: MemoryEntry }> => ({ entry: await change(session) });
    const { entry, files, problems } = await withCopies(this.world, session, before, made);
    return { entry: this.#shown.entry(entry), files, notes: problems };
  }

  /** A memory of the store; what is only in a file belongs to whoever wrote the file. */
  async #own(id: string, type: MemoryType | undefined): Promise<MemoryKey & { entry: MemoryEntry }> {
    const { entry, stored, sources } = await this.#found(id, type);
    if (stored) return { ...entry, entry };
    throw new BmadError('forbidden', `${entry.id} stands only in ${sources.join(', ')}.`, {
      subject: entry.id,
      hint: 'Change it in that file; it is searched as it stands there.',
    });
  }
}

const modeOf = ({ embedder }: Session): 'semantic' | 'local' =>
  embedder === undefined ? 'local' : 'semantic';

function exactId(id: string): string {
  if (isMemoryId(id)) return id.trim().toLowerCase();
  throw new BmadError('invalid_input', `${quoted(id)} is not the id of a memory.`, {
    subject: 'id',
    hint: 'An id looks like 728cfd79-2a3f-5f9a-ad84-d776ac131a77; recall_structured gives it.',
  });
}
