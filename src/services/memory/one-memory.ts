import { BmadError, quoted } from '../../base/errors.ts';
import { isMemoryId } from '../../base/memory-ids.ts';
import type { Step } from '../../base/step.ts';
import { knownAs } from '../../kit/agents.ts';
import { memoryId } from '../../kit/memories/ids.ts';
import type { MemoryEntry, MemoryKey, MemoryRevision, MemoryType } from '../../model/memory.ts';
import { withCopies } from './copies.ts';
import { kitCandidates } from './kit-index.ts';
import { embedded, type OpenMemory, type Session } from './opened.ts';
import { shownBy } from './shown.ts';
import { similarTo, type Similar } from './similar.ts';
import type { MemoryChange, Upserted } from './store.ts';
import { cleanAgent, cleanTags, cleanText } from './text-rules.ts';

interface ToRemember {
  type: MemoryType;
  agent: string;
  text: string;
  /** Nothing keeps those the memory has. */
  tags?: readonly string[] | undefined;
}

export interface Remembered extends Upserted {
  similar: Similar[];
  /** Files of the project that have it now. */
  files: string[];
  notes: string[];
}

/** Keeps a text under the id that it always has, and where the project's own tools look for it. */
export async function remember(
  opened: OpenMemory,
  given: ToRemember,
  signal?: AbortSignal,
): Promise<Remembered> {
  const agent = knownAs(await opened.files.agents(), cleanAgent(given.agent));
  const { text, notes } = cleanText(given.text, opened.hide);
  const key: MemoryKey = { type: given.type, id: memoryId(opened.files.kit.app, agent, text) };
  const session = await opened.sessionToWrite(signal);
  const { vectors, note } = await embedded(opened, session, [text], signal);
  const [vector] = vectors;
  const similar = await similarTo(opened, session, { ...key, agent, text }, vector);
  const tags =
    given.tags === undefined ? ((await session.store.get(key))?.tags ?? []) : cleanTags(given.tags);
  const { outcome, entry, previous, revived, files, problems } = await withCopies(
    opened,
    session,
    key,
    async () => {
      const at = new Date().toISOString();
      const [result] = await session.store.upsert([{ ...key, agent, text, tags, at, vector }]);
      if (result === undefined) throw new Error('The store returned no result for a memory.');
      return result;
    },
    vector === undefined ? 'local' : 'semantic',
  );
  const safe = shownBy(opened);
  return {
    outcome,
    entry: safe.entry(entry),
    previous: previous === undefined ? undefined : safe.wording(previous),
    revived: revived === true,
    similar: similar.map((each) => safe.wording(each)),
    files,
    notes: [...notes, ...problems, ...(note === undefined ? [] : [note]), ...session.troubles],
  };
}

/** One memory as a whole: what it says, what it said before, and where else it is written. */
export interface WholeMemory {
  entry: MemoryEntry;
  revisions: MemoryRevision[];
  sources: string[];
  /** Whether it is in the store; one that is only in a file is changed there. */
  stored: boolean;
}

export interface ChangedMemory {
  entry: MemoryEntry;
  files: string[];
  notes: string[];
}

/** By its exact id; an id in two types needs the type. */
export async function wholeMemory(opened: OpenMemory, id: string, type?: MemoryType): Promise<WholeMemory> {
  const { entry, revisions, ...more } = await memoryWithId(opened, id, type);
  const shown = shownBy(opened);
  return { entry: shown.entry(entry), revisions: revisions.map((each) => shown.wording(each)), ...more };
}

async function memoryWithId(opened: OpenMemory, id: string, type?: MemoryType): Promise<WholeMemory> {
  const wanted = exactId(id);
  const { store } = await opened.session();
  const found = (await store.find(wanted)).filter((entry) => type === undefined || entry.type === type);
  const [entry] = found;
  const copies = await kitCandidates(opened, undefined);
  const own = copies.filter(
    (copy) => copy.entry.id === wanted && (type ?? copy.entry.type) === copy.entry.type,
  );
  const sources = own.map(({ place }) => place);
  if (found.length > 1)
    throw new BmadError('ambiguous', `${found.length} memories have the id ${wanted}.`, {
      subject: wanted,
      suggestions: found.map((each) => each.type),
      hint: 'Specify the type as well.',
    });
  if (entry !== undefined) return { entry, revisions: await store.revisions(entry), sources, stored: true };
  const [copy] = own;
  if (copy !== undefined) return { entry: copy.entry, revisions: [], sources, stored: false };
  throw new BmadError('not_found', `There is no memory with the id ${quoted(id)}.`, {
    subject: id.slice(0, 100),
    steps: [LIST_MEMORIES],
  });
}

export async function updateMemory(
  opened: OpenMemory,
  id: string,
  type: MemoryType | undefined,
  change: Pick<MemoryChange, 'text' | 'tags' | 'agent'>,
  signal?: AbortSignal,
): Promise<Upserted & Omit<ChangedMemory, 'entry'>> {
  const before = await storedMemory(opened, id, type);
  const shown = shownBy(opened);
  const text = change.text === undefined ? undefined : cleanText(change.text, opened.hide);
  const agent =
    change.agent === undefined ? undefined : knownAs(await opened.files.agents(), cleanAgent(change.agent));
  const session = await opened.sessionToWrite(signal);
  const vectors = text === undefined ? undefined : await embedded(opened, session, [text.text], signal);
  const { files, problems, entry, previous, ...result } = await withCopies(
    opened,
    session,
    before,
    () =>
      session.store.update(before, {
        text: text?.text,
        tags: change.tags === undefined ? undefined : cleanTags(change.tags),
        agent,
        at: new Date().toISOString(),
        vector: vectors?.vectors[0],
      }),
    session.embedder === undefined ? 'local' : 'semantic',
  );
  const note = vectors?.note === undefined ? [] : [vectors.note];
  return {
    ...result,
    entry: shown.entry(entry),
    previous: previous === undefined ? undefined : shown.wording(previous),
    files,
    notes: [...(text?.notes ?? []), ...note, ...problems],
  };
}

export async function forgetMemory(opened: OpenMemory, id: string, type?: MemoryType) {
  const entry = await storedMemory(opened, id, type);
  return changedMemory(opened, entry, ({ store }) => store.forget([entry], new Date().toISOString()));
}

export async function restoreMemory(opened: OpenMemory, id: string, type?: MemoryType) {
  const entry = await storedMemory(opened, id, type);
  if (entry.forgottenAt === undefined)
    return { entry: shownBy(opened).entry(entry), files: [], notes: ['It was not forgotten.'] };
  return changedMemory(opened, entry, ({ store }) => store.restore([entry]));
}

export async function supersedeMemory(
  opened: OpenMemory,
  id: string,
  by: string | undefined,
  type?: MemoryType,
): Promise<ChangedMemory> {
  const entry = await storedMemory(opened, id, type);
  const successor = by === undefined ? undefined : exactId(by);
  if (successor === entry.id)
    throw new BmadError('invalid_input', 'A memory cannot replace itself.', {
      subject: 'by',
      hint: 'To change what it says, use "update".',
    });
  if (successor !== undefined && (await (await opened.session()).store.find(successor)).length === 0)
    throw new BmadError('not_found', `There is no memory with the id ${quoted(successor)}.`, {
      subject: 'by',
      hint: 'Remember the new text first, then give its id.',
    });
  return changedMemory(opened, entry, async ({ store }) => [
    await store.supersede(entry, successor, new Date().toISOString()),
  ]);
}

/** A change that leaves the wording as it is; one without effect gives nothing back. */
async function changedMemory(
  opened: OpenMemory,
  before: MemoryEntry,
  change: (session: Session) => Promise<MemoryEntry[]>,
): Promise<ChangedMemory> {
  const session = await opened.sessionToWrite();
  const made = async (): Promise<{ entry: MemoryEntry }> => {
    const [after = before] = await change(session);
    return { entry: after };
  };
  const { entry, files, problems } = await withCopies(opened, session, before, made);
  return { entry: shownBy(opened).entry(entry), files, notes: problems };
}

/** A memory of the store; what is only in a file belongs to the file's author. */
async function storedMemory(
  opened: OpenMemory,
  id: string,
  type: MemoryType | undefined,
): Promise<MemoryEntry> {
  const { entry, stored, sources } = await memoryWithId(opened, id, type);
  if (stored) return entry;
  throw new BmadError('forbidden', `${entry.id} exists only in ${sources.join(', ')}.`, {
    subject: entry.id,
    hint: 'Edit that file; its text is searched as it is.',
  });
}

const LIST_MEMORIES: Step = { operation: 'memory_list', why: 'List memories with their ids' };

export function exactId(id: string): string {
  if (isMemoryId(id)) return id.trim().toLowerCase();
  throw new BmadError('invalid_input', `${quoted(id)} is not a memory id.`, {
    subject: 'id',
    hint: 'An id looks like 728cfd79-2a3f-5f9a-ad84-d776ac131a77.',
    steps: [LIST_MEMORIES],
  });
}
