import { memoryId } from '../../kit/memories/ids.ts';
import { otherLanguage } from '../../kit/project-language.ts';
import type { MemoryEntry, MemoryKey, MemoryType } from '../../model/memory.ts';
import { type Similar, similarTo, withSettled } from './similar.ts';
import { withCopies } from './copies.ts';
import { memoryWithId, supersedeMemory } from './one-memory.ts';
import { embedded, type OpenMemory, shownBy } from './opened.ts';
import type { Upserted } from './engine.ts';
import { cleanAgent, cleanTags, cleanText } from './text-rules.ts';

interface ToRemember {
  type: MemoryType;
  agent: string;
  text: string;
  /** Nothing keeps those the memory has. */
  tags?: readonly string[] | undefined;
  /** The id of a memory that this one replaces. */
  supersedes?: string | undefined;
}

export interface Remembered extends Upserted {
  similar: Similar[];
  /** Set where it is plainly in another language than the project's. */
  language?: Awaited<ReturnType<typeof otherLanguage>>;
  /** What it has replaced. */
  superseded?: MemoryEntry | undefined;
  /** Files of the project that have it now. */
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
  const agent = cleanAgent(given.agent);
  const { text, notes } = cleanText(given.text, opened.hide);
  const key: MemoryKey = { type: given.type, id: memoryId(opened.files.kit.app, agent, text) };
  // Before anything is written: an id that is not there is a slip.
  const replaced =
    given.supersedes === undefined ? undefined : (await memoryWithId(opened, given.supersedes)).entry;
  const session = await opened.sessionToWrite(signal, tell);
  const { vectors, note } = await embedded(opened, session, [text], signal);
  const [vector] = vectors;
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
      if (result === undefined) throw new Error('The store returned no result for a memory.');
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
      ...(note === undefined ? [] : [note]),
      ...(done?.notes ?? []),
      ...session.notes,
      ...session.troubles,
    ],
  };
}
