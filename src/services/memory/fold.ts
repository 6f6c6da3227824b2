import { BmadError, quoted } from '../../base/errors.ts';
import { t } from '../../base/text/message.ts';
import { lineText } from '../../kit/memories/write.ts';
import { followers, type Happened, inOrder } from '../../lines/line.ts';
import {
  MEMORY_TYPES,
  type MemoryEntry,
  type MemoryKey,
  type MemoryRevision,
  type MemoryType,
} from '../../model/memory.ts';
import {
  type Decided,
  isLiving,
  isMoment,
  isoTime,
  isSoundEntry,
  isSoundRevision,
  type MemoryChange,
  type NewMemory,
  REVISIONS_KEPT,
  type Stored,
  type Upserted,
} from './engine.ts';

/**
 * What lines say about memories. Each says what the memory is after it, so that the last one is enough to know it by; those
 * before are its earlier wordings.
 */
export type Verb = 'remember' | 'forget' | 'restore' | 'supersede' | 'moved' | 'erase';

export const entityOf = ({ type, id }: MemoryKey): string => `memory/${type}/${id}`;

/** Which memory an entity is; nothing for what is none. */
export function keyOfEntity(of: string): MemoryKey | undefined {
  const [noun, type, id, ...more] = of.split('/');
  const known = MEMORY_TYPES.find((name) => name === type);
  return noun === 'memory' && known !== undefined && id !== undefined && id !== '' && more.length === 0
    ? { type: known, id }
    : undefined;
}

/** The memory as a line has it: what it is known by stands in the entity, how often it was changed in the lines. */
export function dataOf(
  { type: _type, id: _id, project: _project, revision: _revision, others: _others, ...data }: MemoryEntry,
  earlier: readonly MemoryRevision[] = [],
): Record<string, unknown> {
  // Lines are the history of what came with them; what was kept in another way before brings its own.
  return earlier.length > 0 ? { ...data, earlier: earlier.toReversed() } : data;
}

type Wording = Omit<MemoryRevision, 'revision'>;

interface Said {
  event: Happened;
  /** What the memory is after it, without what only all lines together tell. */
  entry: MemoryEntry;
  earlier: readonly MemoryRevision[];
}

/**
 * A memory from all lines about it, the same for every order in which they came. The last one holds. A forget holds against
 * all that was written without knowing of it. Of two that were written without knowing of each other, the text of the other
 * one stays with the memory until somebody has written after both.
 */
export function memoryOf(key: MemoryKey, project: string, events: readonly Happened[]): Stored | undefined {
  const ordered = inOrder(events);
  const follows = followers(ordered);
  const erased = ordered.filter((event) => event.do === 'erase');
  const said = ordered
    .filter((event) => erased.every((stone) => follows(event, stone)))
    .flatMap((event) => saidBy(key, project, event));
  const last = said.at(-1);
  if (last === undefined) return undefined;
  const revisions: MemoryRevision[] = [];
  let current: Wording | undefined;
  for (const { entry, earlier } of said)
    for (const wording of [...earlier, { ...entry, at: entry.updatedAt }]) {
      if (current !== undefined && isSame(current, wording)) continue;
      // Of what was forgotten in a version before, the text was not kept.
      if (current !== undefined && current.text !== '')
        revisions.unshift({ revision: revisions.length + 1, ...plain(current) });
      // Clocks of different machines disagree; a memory's own times never run backwards.
      const at = current !== undefined && current.at > wording.at ? current.at : wording.at;
      current = { ...wording, at };
    }
  const forgotten = said.filter(({ entry }) => entry.forgottenAt !== undefined);
  const open = forgotten.find(
    ({ event }) =>
      !said.some((other) => other.entry.forgottenAt === undefined && follows(other.event, event)),
  );
  const forgottenAt = (open ?? last).entry.forgottenAt;
  const others = [...new Set(said.filter((each) => isOpen(each, said)).map(({ entry }) => entry.text))];
  const { forgottenAt: _, ...entry } = last.entry;
  return {
    entry: {
      ...entry,
      createdAt: said.map((each) => each.entry.createdAt).sort()[0] ?? entry.createdAt,
      updatedAt: current?.at ?? entry.updatedAt,
      revision: revisions.length + 1,
      ...(forgottenAt === undefined ? {} : { forgottenAt }),
      ...(others.length > 1 ? { others: others.filter((text) => text !== entry.text) } : {}),
    },
    revisions: revisions.slice(0, REVISIONS_KEPT),
  };
}

const plain = ({ text, tags, agent, at }: Wording): Wording => ({ text, tags, agent, at });

const isSame = (one: Omit<Wording, 'at'>, other: Omit<Wording, 'at'>): boolean =>
  one.text === other.text && one.agent === other.agent && one.tags.join('\0') === other.tags.join('\0');

const isOpen = ({ event }: Said, said: readonly Said[]): boolean =>
  !said.some((other) => other.event.after.includes(event.id));

/** What cannot be read, and what a newer program has written in a way that is not known here, says nothing. */
function saidBy({ type, id }: MemoryKey, project: string, event: Happened): Said[] {
  if (event.erased === true || event.do === 'erase') return [];
  const {
    text,
    tags = [],
    agent,
    createdAt,
    updatedAt,
    earlier,
    forgottenAt,
    supersededAt,
    supersededBy,
  } = event.data;
  const entry: unknown = {
    type,
    id,
    project,
    agent,
    text,
    tags,
    createdAt: momentOr(createdAt, event.at),
    updatedAt: momentOr(updatedAt, event.at),
    revision: 1,
    ...(forgottenAt === undefined ? {} : { forgottenAt }),
    ...(supersededAt === undefined ? {} : { supersededAt }),
    ...(supersededBy === undefined ? {} : { supersededBy }),
  };
  if (!isSoundEntry(entry)) return [];
  const before = Array.isArray(earlier) ? earlier.slice(-REVISIONS_KEPT).filter(isSoundRevision) : [];
  return [{ event, entry, earlier: before }];
}

const momentOr = (value: unknown, other: string): string => {
  if (isMoment(value)) return value;
  try {
    return typeof value === 'string' ? isoTime(value) : other;
  } catch {
    return other;
  }
};

/** The rules of change, the same for every engine: the stored memory and the new one decide what to store. */

/** NUL ends a text in some drivers, and half a character cannot be written as UTF-8. */
const cleanText = (text: string): string => text.replaceAll('\0', '').replaceAll(/\p{Surrogate}/gu, '\uFFFD');
const cleanName = (name: string): string => cleanText(name).normalize('NFC');
const cleanTags = (tags: readonly string[]): string[] => [...new Set(tags.map(cleanName))];

export function upserted(
  current: MemoryEntry | undefined,
  given: NewMemory,
  project: string,
): Decided<Upserted> {
  const at = isoTime(given.at);
  const wording = { text: cleanText(given.text), tags: cleanTags(given.tags), agent: cleanName(given.agent) };
  if (current === undefined) {
    const createdAt = given.createdAt === undefined ? at : isoTime(given.createdAt);
    const updatedAt = createdAt > at ? createdAt : at;
    const { type, id, vector } = given;
    const entry: MemoryEntry = { id, type, ...wording, project, createdAt, updatedAt, revision: 1 };
    return { next: entry, vector, answer: { outcome: 'created', entry, previous: undefined } };
  }
  const back = given.revive === false ? current : revived(current);
  const decided = reworded(back, back !== current, wording, at, given.vector);
  return back === current ? decided : { ...decided, answer: { ...decided.answer, revived: true } };
}

export function updated(entry: MemoryEntry, change: MemoryChange): Decided<Upserted> {
  const wording = {
    text: change.text === undefined ? entry.text : cleanText(change.text),
    tags: change.tags === undefined ? entry.tags : cleanTags(change.tags),
    agent: change.agent === undefined ? entry.agent : cleanName(change.agent),
  };
  return reworded(entry, false, wording, isoTime(change.at), change.vector);
}

function reworded(
  entry: MemoryEntry,
  touched: boolean,
  wording: Omit<Wording, 'at'>,
  at: string,
  vector: Float32Array | undefined,
): Decided<Upserted> {
  const { revision, updatedAt } = entry;
  if (isSame(wording, entry)) {
    const outcome = touched ? 'updated' : 'unchanged';
    return { next: touched ? entry : undefined, vector, answer: { outcome, entry, previous: undefined } };
  }
  const previous = { revision, ...plain({ ...entry, at: updatedAt }) };
  // Clocks of different machines disagree; a memory's own times never run backwards.
  const changedAt = at > updatedAt ? at : updatedAt;
  const next = { ...entry, ...wording, updatedAt: changedAt, revision: revision + 1 };
  return { next, vector, answer: { outcome: 'updated', entry: next, previous } };
}

function revived(current: MemoryEntry): MemoryEntry {
  const { forgottenAt: _, supersededAt: __, supersededBy: ___, ...entry } = current;
  return isLiving(current) ? current : entry;
}

export function present<T>(current: T | undefined, { type, id }: MemoryKey): T {
  if (current !== undefined) return current;
  throw new BmadError('not_found', t`There is no memory ${quoted(id)} in ${type}.`, {
    subject: id,
    steps: [{ operation: 'memory_list', why: t`List memories with their ids` }],
  });
}

const lineKey = ({ type, text }: { type: MemoryType; text: string }): string => `${type}\n${lineText(text)}`;

/** Whether an entry of a file says what was forgotten, superseded or said otherwise since; nothing where none can. */
export type IsBehind = ((entry: MemoryEntry) => boolean) | undefined;

/** After every time. */
const FOR_EVER = 'ever';

/** By all that was changed. What somebody has said again after it was gone is not behind. */
export function behind(changed: readonly Stored[]): IsBehind {
  // What an entry is known by is not made for nothing.
  if (changed.length === 0) return undefined;
  /** Until when an entry has to be from that is known by a name. */
  const gone = new Map<string, string>();
  for (const { entry, revisions } of changed)
    for (const { text } of revisions) gone.set(lineKey({ type: entry.type, text }), FOR_EVER);
  // What a memory said before, and one of them says now, holds.
  for (const { entry } of changed) gone.delete(lineKey(entry));
  for (const { entry } of changed)
    for (const at of [entry.forgottenAt, entry.supersededAt])
      for (const name of at === undefined ? [] : [entityOf(entry), lineKey(entry)])
        if (at !== undefined && at > (gone.get(name) ?? '')) gone.set(name, at);
  const isGone = (name: string, { updatedAt }: MemoryEntry): boolean => updatedAt <= (gone.get(name) ?? '');
  return (entry) => isGone(lineKey(entry), entry) || isGone(entityOf(entry), entry);
}
