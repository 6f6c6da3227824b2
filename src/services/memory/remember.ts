import type { MemoryKey, MemoryType } from '../../model/memory.ts';
import { memoryId } from '../../kit/memories/ids.ts';
import { withCopies } from './copies.ts';
import { shownBy } from './shown.ts';
import { similarTo, type Similar } from './similar.ts';
import type { Upserted } from './store.ts';
import { cleanAgent, cleanTags, cleanText } from './text-rules.ts';
import { embedded, type OpenMemory } from './opened.ts';

export interface ToRemember {
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
  const agent = cleanAgent(given.agent);
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
