import { t } from '../../base/text/message.ts';
import { BmadError, ours, quoted } from '../../base/errors.ts';
import { isMemoryId } from '../../base/values.ts';
import type { Step } from '../../base/step.ts';
import type { MemoryEntry, MemoryKey, MemoryRevision, MemoryType } from '../../model/memory.ts';
import { secretsOut } from '../../base/secrets/scanner.ts';
import { memoryId } from '../../kit/memories/entries.ts';
import { otherLanguage } from '../../kit/language.ts';
import { agentName } from '../../base/text/agent-titles.ts';
import { momentOf } from '../../base/text/text.ts';
import { lineText } from '../../kit/memories/write.ts';
import { uncopied, withCopies } from './copies.ts';
import { isForgotten, isLiving, isoTime, type MemoryChange, type Upserted } from './engine.ts';
import {
  cleanTags,
  cleanText,
  embedded,
  isEmptied,
  isUndated,
  type KitCandidate,
  kitCandidates,
  type Known,
  type OpenMemory,
  type Session,
  shownBy,
} from './opened.ts';
import { holdsWith, type Similar, similarTo, withSettled } from './similar.ts';
import { allEntries, MemoryStore } from './store.ts';

/** One memory as a whole: what it says, what it said before, and where else it is written. */
type WholeMemory = Known & { revisions: MemoryRevision[] };

export interface ChangedMemory {
  entry: MemoryEntry;
  files: string[];
  notes: string[];
}

export async function wholeMemory(opened: OpenMemory, id: string, type?: MemoryType): Promise<WholeMemory> {
  const { entry, revisions, ...more } = await memoryWithId(opened, id, type);
  const shown = shownBy(opened);
  return { entry: shown.entry(entry), revisions: revisions.map((each) => shown.wording(each)), ...more };
}

async function memoryWithId(opened: OpenMemory, id: string, type?: MemoryType): Promise<WholeMemory> {
  const copies = await kitCandidates(opened, undefined);
  const numbered = copies.find(({ from }) => from.number?.toUpperCase() === id.trim().toUpperCase());
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
    throw new BmadError('ambiguous', t`${found.length} memories have the id ${wanted}.`, {
      subject: wanted,
      suggestions: found.map((each) => each.type),
      hint: t`Specify the type as well.`,
    });
  // Somebody may have said it again in a file after it was gone: then that holds.
  const isBehind = entry === undefined || isLiving(entry) ? undefined : await store.isBehind();
  const copy = own.find((each) => isBehind?.(each.entry) !== true);
  if (entry !== undefined && (isBehind === undefined || copy === undefined))
    return { entry, revisions: await store.revisions(entry), sources, stored: true };
  if (copy !== undefined) return { entry: copy.entry, revisions: [], sources, stored: false };
  throw new BmadError('not_found', t`There is no memory with the id ${quoted(id)}.`, {
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
  const before = await memoryToChange(opened, id, type);
  const shown = shownBy(opened);
  const text = change.text === undefined ? undefined : cleanText(change.text, opened.hide);
  const agent = change.agent === undefined ? undefined : agentName(change.agent);
  const session = await opened.sessionToWrite();
  const { vectors, notes } = await embedded(opened, session, text === undefined ? [] : [text.text], signal);
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
        vector: vectors[0],
      }),
    session.embedder === undefined ? 'local' : 'semantic',
  );
  return {
    ...result,
    entry: shown.entry(entry),
    previous: previous === undefined ? undefined : shown.wording(previous),
    files,
    notes: [...(text?.notes ?? []), ...notes, ...problems, ...(await leftNote(opened, session, before))],
  };
}

export async function forgetMemory(opened: OpenMemory, id: string, type?: MemoryType) {
  const before = await memoryToChange(opened, id, type);
  return changedMemory(opened, before, ({ store }, entry) => store.forget([entry], new Date().toISOString()));
}

export async function restoreMemory(opened: OpenMemory, id: string, type?: MemoryType) {
  const { entry } = await memoryWithId(opened, id, type);
  if (entry.forgottenAt === undefined)
    return { entry: shownBy(opened).entry(entry), files: [], notes: [t`It was not forgotten.`] };
  if (isEmptied(entry))
    throw new BmadError('not_found', t`It was forgotten by an earlier version, and its text was not kept.`, {
      subject: id,
      hint: t`Remember it again, in its own words.`,
    });
  return changedMemory(opened, entry, ({ store }) => store.restore([entry]));
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
    throw new BmadError('invalid_input', t`A memory cannot replace itself.`, {
      subject: 'by',
      hint: t`To change what it says, use "update".`,
    });
  if (successor !== undefined)
    await memoryWithId(opened, successor).catch(
      ours((error) => {
        throw error.with({ subject: 'by', hint: t`Remember the new text first, then give its id.` });
      }, 'not_found'),
    );
  const found = await memoryToChange(opened, id, type);
  return changedMemory(opened, found, async ({ store }, entry) => [
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
    throw new BmadError('invalid_input', t`It takes two memories.`, {
      subject: 'other',
      hint: t`Give the id of the other one.`,
    });
  const [marked, beside] = one.stored || !two.stored ? [one.entry, two.entry] : [two.entry, one.entry];
  const entry = await memoryToChange(opened, marked.id, marked.type);
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
  change: (session: Session, entry: MemoryEntry) => Promise<MemoryEntry[]>,
): Promise<ChangedMemory> {
  const session = await opened.sessionToWrite();
  const made = async (): Promise<{ entry: MemoryEntry }> => {
    const [after = before] = await change(session, before);
    return { entry: after };
  };
  const { entry, files, problems } = await withCopies(opened, session, before, made);
  const notes = [...problems, ...(await leftNote(opened, session, before))];
  return { entry: shownBy(opened).entry(entry), files, notes };
}

async function memoryToChange(
  opened: OpenMemory,
  id: string,
  type: MemoryType | undefined,
): Promise<MemoryEntry> {
  const { entry, stored } = await memoryWithId(opened, id, type);
  return stored ? entry : adopted(opened, await opened.sessionToWrite(), entry);
}

/** Where people have written what it said before, after it was changed. */
async function leftNote(opened: OpenMemory, { store }: Session, before: MemoryEntry): Promise<string[]> {
  const written = await copiesOf(opened, [before]);
  const isBehind = written.length === 0 ? undefined : await store.isBehind();
  const left = written.filter(({ entry }) => isBehind?.(entry)).map(({ place }) => place);
  return left.length === 0 ? [] : [t`Still written in ${left.join(', ')}; answers leave it out.`];
}

const LIST_MEMORIES: Step = { operation: 'memory_list', why: 'List memories with their ids' };

function exactId(id: string): string {
  if (isMemoryId(id)) return id.trim().toLowerCase();
  throw new BmadError('invalid_input', t`${quoted(id)} is not a memory id.`, {
    subject: 'id',
    hint: t`An id looks like 728cfd79-2a3f-5f9a-ad84-d776ac131a77.`,
    steps: [LIST_MEMORIES],
  });
}

/**
 * Takes what only a file has into the store, under the id it has had all along, so that it can be marked and changed there.
 * The file stays as it is: what is done to the memory afterwards decides about its line.
 */
async function adopted({ hide }: OpenMemory, { store }: Session, entry: MemoryEntry): Promise<MemoryEntry> {
  const { id, type, agent, text, tags } = entry;
  const at = isUndated(entry) ? new Date().toISOString() : entry.createdAt;
  const safe = secretsOut(text, hide).text;
  const [made] = await store.upsert([{ id, type, agent, text: safe, tags, at, createdAt: at }]);
  if (made === undefined) throw new Error(t`The store returned no result for a memory.`);
  return made.entry;
}

interface ToRemember {
  type: MemoryType;
  agent: string;
  text: string;
  /** Nothing keeps those the memory has. */
  tags?: readonly string[] | undefined;
  supersedes?: string | undefined;
}

export interface Remembered extends Upserted {
  similar: Similar[];
  /** Set where it is plainly in another language than the project's. */
  language?: Awaited<ReturnType<typeof otherLanguage>>;
  superseded?: MemoryEntry | undefined;
  files: string[];
  notes: string[];
}

/** Keeps a text under the id that it always has, and where the project's own tools look for it. */
export async function remember(
  opened: OpenMemory,
  given: ToRemember,
  signal?: AbortSignal,
  tell?: (note: string) => void,
): Promise<Remembered> {
  const agent = agentName(given.agent);
  const { text, notes } = cleanText(given.text, opened.hide);
  const key: MemoryKey = { type: given.type, id: memoryId(opened.files.kit.app, agent, text) };
  // Before anything is written: an id that is not there is a slip.
  const replaced =
    given.supersedes === undefined ? undefined : (await memoryWithId(opened, given.supersedes)).entry;
  const session = await opened.sessionToWrite(tell);
  const meaning = await embedded(opened, session, [text], signal);
  const [vector] = meaning.vectors;
  const before = (await session.store.get(key))?.tags ?? [];
  const tags = given.tags === undefined ? before : withSettled(cleanTags(given.tags), before);
  const similar = (await similarTo(opened, session, { ...key, agent, text, tags }, vector)).filter(
    ({ id }) => id !== replaced?.id,
  );
  const { outcome, entry, previous, revived, files, problems } = await withCopies(
    opened,
    session,
    key,
    async () => {
      const at = new Date().toISOString();
      const [result] = await session.store.upsert([{ ...key, agent, text, tags, at, vector }]);
      if (result === undefined) throw new Error(t`The store returned no result for a memory.`);
      return result;
    },
    vector === undefined ? 'local' : 'semantic',
  );
  const safe = shownBy(opened);
  // A text with the same beginning is the same memory, whose earlier wording is kept as it is.
  const done =
    replaced === undefined || replaced.id === entry.id
      ? undefined
      : await supersedeMemory(opened, replaced.id, entry.id, replaced.type);
  return {
    outcome,
    entry: safe.entry(entry),
    previous: previous === undefined ? undefined : safe.wording(previous),
    revived: revived === true,
    similar: similar.map((each) => safe.wording(each)),
    superseded: done?.entry,
    language: await otherLanguage(opened.files.kit, text),
    files: [...new Set([...files, ...(done?.files ?? [])])],
    notes: [
      ...notes,
      // Its memories are kept under the name that is in it.
      ...(opened.files.kit.page.isBroken === true ? opened.files.kit.problems : []),
      ...problems,
      ...meaning.notes,
      ...(done?.notes ?? []),
      ...session.notes,
      ...session.troubles,
    ],
  };
}

export interface ToPurge {
  ids?: readonly string[] | undefined;
  forgottenBefore?: string | undefined;
  type?: MemoryType | undefined;
  /** Without it, the memories are only listed. */
  apply: boolean;
}

/** Removes forgotten memories for good. Their copies in files go first: once the store has forgotten why, nothing hides them. */
export async function purge(opened: OpenMemory, given: ToPurge) {
  const ids = given.ids?.map(exactId);
  const { store } = given.apply ? await opened.sessionToWrite() : await opened.session();
  const chosen =
    ids === undefined ? await forgottenBefore(store, given) : await forgottenWithIds(store, ids, given);
  const notes: string[] = [];
  /** Earlier wordings that go with them. */
  let revisions = 0;
  const ready: MemoryEntry[] = [];
  for (const entry of chosen) {
    const earlier = entry.revision > 1 ? await store.revisions(entry) : [];
    const { problems } = given.apply ? await uncopied(opened, store, entry, earlier) : { problems: [] };
    notes.push(...problems.filter((problem) => !notes.includes(problem)));
    if (problems.length > 0) continue;
    revisions += earlier.length;
    ready.push(entry);
  }
  const left = chosen.length - ready.length;
  if (left > 0) notes.push(t`${left} were kept, because their copies in files could not be removed.`);
  const gone = given.apply ? await store.purge(ready) : ready;
  const places = (await copiesOf(opened, gone)).map(({ place }) => place);
  if (places.length > 0)
    notes.push(t`Also written in ${places.join(', ')}: remove it there, or answers will have it again.`);
  const safe = shownBy(opened);
  return { memories: gone.map(safe.entry), revisions, applied: given.apply, notes };
}

/** What files say of these memories. */
async function copiesOf(opened: OpenMemory, memories: readonly MemoryEntry[]): Promise<KitCandidate[]> {
  const known = new Set(
    memories.flatMap(({ type, id, text }) => [`${type} ${id}`, `${type} ${lineText(text)}`]),
  );
  const candidates = await kitCandidates(opened, undefined);
  return candidates.filter(
    ({ entry: { type, id }, line }) => known.has(`${type} ${id}`) || known.has(`${type} ${line}`),
  );
}

async function forgottenBefore(
  store: MemoryStore,
  { forgottenBefore: before, type }: ToPurge,
): Promise<MemoryEntry[]> {
  if (before === undefined)
    throw new BmadError('invalid_input', t`Nothing to purge was specified.`, {
      hint: t`Pass the ids of forgotten memories, or a date with forgotten_before.`,
    });
  const [until, types] = [isoTime(momentOf(before, 'first')), type === undefined ? undefined : [type]];
  const all = await allEntries(store, { types, includeForgotten: true, includeSuperseded: true });
  return all.filter(({ forgottenAt }) => forgottenAt !== undefined && forgottenAt < until);
}

async function forgottenWithIds(
  store: MemoryStore,
  ids: readonly string[],
  { type, forgottenBefore: before }: ToPurge,
): Promise<MemoryEntry[]> {
  if (before !== undefined)
    throw new BmadError('invalid_input', t`Both ids and a date were given; only one is allowed.`, {
      hint: t`Pass either ids or forgotten_before.`,
    });
  const found: MemoryEntry[] = [];
  for (const id of new Set(ids)) {
    const all = (await store.find(id)).filter((entry) => type === undefined || entry.type === type);
    const forgotten = all.filter(isForgotten);
    if (all.length === 0)
      throw new BmadError('not_found', t`There is no memory with the id ${id}.`, {
        subject: 'ids',
        steps: [{ operation: 'memory_list', args: { all: true }, why: t`List forgotten memories too` }],
      });
    if (forgotten.length === 0)
      throw new BmadError('forbidden', t`${id} is not forgotten; only forgotten memories are purged.`, {
        subject: 'ids',
        hint: t`Nothing was removed.`,
        steps: [{ operation: 'memory_forget', args: { id }, why: t`Forget it first` }],
      });
    found.push(...forgotten);
  }
  return found;
}
