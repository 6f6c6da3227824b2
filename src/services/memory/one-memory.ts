import { BmadError, quoted } from '../../base/errors.ts';
import { isMemoryId } from '../../base/memory-ids.ts';
import { ours } from '../../base/expected.ts';
import type { Step } from '../../base/step.ts';
import type { MemoryEntry, MemoryRevision, MemoryType } from '../../model/memory.ts';
import { holdsWith, withSettled } from './similar.ts';
import { withCopies } from './copies.ts';
import { kitCandidates } from './kit-index.ts';
import { embedded, isEmptied, type OpenMemory, type Session, shownBy } from './opened.ts';
import type { MemoryChange, Upserted } from './engine.ts';
import { cleanAgent, cleanTags, cleanText } from './text-rules.ts';
import { secretsOut } from '../../base/secrets/scanner.ts';

/** One memory as a whole: what it says, what it said before, and where else it is written. */
export interface WholeMemory {
  entry: MemoryEntry;
  revisions: MemoryRevision[];
  sources: string[];
  /** Whether it is in the store; one that is only in a file is taken into it to be changed. */
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

export async function memoryWithId(opened: OpenMemory, id: string, type?: MemoryType): Promise<WholeMemory> {
  const copies = await kitCandidates(opened, undefined);
  const numbered = copies.find(({ number }) => number?.toUpperCase() === id.trim().toUpperCase());
  const wanted = numbered?.entry.id ?? exactId(id);
  const { store } = await opened.session();
  const find = async (): Promise<MemoryEntry[]> =>
    (await store.find(wanted)).filter((entry) => type === undefined || entry.type === type);
  let found = await find();
  // It may be among the lines that are being taken in.
  if (found.length === 0 && store.making() !== undefined) found = await store.whole().then(find);
  const [entry] = found;
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
  const { entry: before, left } = await memoryToChange(opened, id, type);
  const shown = shownBy(opened);
  const text = change.text === undefined ? undefined : cleanText(change.text, opened.hide);
  const agent = change.agent === undefined ? undefined : cleanAgent(change.agent);
  const session = await opened.sessionToWrite(signal);
  const vectors = text === undefined ? undefined : await embedded(opened, session, [text.text], signal);
  const { files, problems, entry, previous, ...result } = await withCopies(
    opened,
    session,
    before,
    () =>
      session.store.update(before, {
        text: text?.text,
        tags: change.tags === undefined ? undefined : withSettled(cleanTags(change.tags), before.tags),
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
    notes: [...(text?.notes ?? []), ...note, ...problems, ...(await left())],
  };
}

export async function forgetMemory(opened: OpenMemory, id: string, type?: MemoryType) {
  const { entry, left } = await memoryToChange(opened, id, type);
  return changedMemory(opened, entry, left, ({ store }) => store.forget([entry], new Date().toISOString()));
}

export async function restoreMemory(opened: OpenMemory, id: string, type?: MemoryType) {
  const { entry } = await memoryWithId(opened, id, type);
  if (entry.forgottenAt === undefined)
    return { entry: shownBy(opened).entry(entry), files: [], notes: ['It was not forgotten.'] };
  if (isEmptied(entry))
    throw new BmadError('not_found', 'It was forgotten by an earlier version, and its text was not kept.', {
      subject: id,
      hint: 'Remember it again, in its own words.',
    });
  return changedMemory(opened, entry, NOTHING_LEFT, ({ store }) => store.restore([entry]));
}

export async function supersedeMemory(
  opened: OpenMemory,
  id: string,
  by: string | undefined,
  type?: MemoryType,
): Promise<ChangedMemory> {
  const before = await memoryWithId(opened, id, type);
  const successor = by === undefined ? undefined : exactId(by);
  if (successor === before.entry.id)
    throw new BmadError('invalid_input', 'A memory cannot replace itself.', {
      subject: 'by',
      hint: 'To change what it says, use "update".',
    });
  if (successor !== undefined)
    await memoryWithId(opened, successor).catch(
      ours((error) => {
        throw error.with({ subject: 'by', hint: 'Remember the new text first, then give its id.' });
      }, 'not_found'),
    );
  const { entry, left } = await memoryToChange(opened, id, type);
  return changedMemory(opened, entry, left, async ({ store }) => [
    await store.supersede(entry, successor, new Date().toISOString()),
  ]);
}

/** Says that two memories both hold, so that nothing marks them as being about the same any more. */
export async function keepBoth(
  opened: OpenMemory,
  id: string,
  other: string,
  type?: MemoryType,
): Promise<ChangedMemory & { other: MemoryEntry }> {
  const [one, two] = [await memoryWithId(opened, id, type), await memoryWithId(opened, other)];
  if (one.entry.id === two.entry.id)
    throw new BmadError('invalid_input', 'It takes two memories.', {
      subject: 'other',
      hint: 'Give the id of the other one.',
    });
  const [marked, beside] = one.stored || !two.stored ? [one.entry, two.entry] : [two.entry, one.entry];
  const { entry } = await memoryToChange(opened, marked.id, marked.type);
  const session = await opened.sessionToWrite();
  const tags = [...new Set([...entry.tags, holdsWith(beside.id)])];
  const { entry: kept } = await session.store.update(entry, { tags, at: entry.updatedAt });
  const shown = shownBy(opened);
  return { entry: shown.entry(kept), other: shown.entry(beside), files: [], notes: [] };
}

/** A change that leaves the wording as it is; one without effect gives nothing back. */
async function changedMemory(
  opened: OpenMemory,
  before: MemoryEntry,
  left: Left,
  change: (session: Session) => Promise<MemoryEntry[]>,
): Promise<ChangedMemory> {
  const session = await opened.sessionToWrite();
  const made = async (): Promise<{ entry: MemoryEntry }> => {
    const [after = before] = await change(session);
    return { entry: after };
  };
  const { entry, files, problems } = await withCopies(opened, session, before, made);
  return { entry: shownBy(opened).entry(entry), files, notes: [...problems, ...(await left())] };
}

/** Where a text that a file had on its own still stands, after its memory was changed. */
type Left = () => Promise<string[]>;

const NOTHING_LEFT: Left = async () => [];

/** A memory of the store, in which an entry of a file is taken to be changed. */
async function memoryToChange(
  opened: OpenMemory,
  id: string,
  type: MemoryType | undefined,
): Promise<{ entry: MemoryEntry; left: Left }> {
  const { entry, stored } = await memoryWithId(opened, id, type);
  if (stored) return { entry, left: NOTHING_LEFT };
  const left: Left = async () => {
    const places = (await kitCandidates(opened, undefined))
      .filter((copy) => copy.entry.id === entry.id && copy.entry.type === entry.type)
      .map(({ place }) => place);
    return places.length === 0 ? [] : [`Still written in ${places.join(', ')}; answers leave it out.`];
  };
  return { entry: await adopted(opened, await opened.sessionToWrite(), entry), left };
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

/**
 * Takes what only a file has into the store, under the id it has had all along, so that it can be marked and changed there.
 * The file stays as it is: what is done to the memory afterwards decides about its line.
 */
async function adopted(
  { hide }: OpenMemory,
  { store }: Session,
  { id, type, agent, text, tags, createdAt }: MemoryEntry,
): Promise<MemoryEntry> {
  const at = createdAt.startsWith('1970') ? new Date().toISOString() : createdAt;
  const safe = secretsOut(text, hide).text;
  const [made] = await store.upsert([
    { id, type, agent, text: safe, tags, at, createdAt: at, revive: false },
  ]);
  if (made === undefined) throw new Error('The store returned no result for a memory.');
  return made.entry;
}
