import { BmadError } from '../../base/errors.ts';
import { momentOf } from '../../base/text/local-time.ts';
import type { MemoryEntry, MemoryType } from '../../model/memory.ts';
import { lineText } from '../../kit/memories/line-files.ts';
import { uncopied } from './copies.ts';
import { kitCandidates } from './kit-index.ts';
import { exactId } from './one-memory.ts';
import { isForgotten } from './select.ts';
import { type OpenMemory, shownBy } from './opened.ts';
import type { MemoryStore } from './engine.ts';
import { allEntries } from './transfer/transfer.ts';

export interface ToPurge {
  /** Exact ids, each of a forgotten memory. */
  ids?: readonly string[] | undefined;
  /** All that were forgotten before this date. */
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
  if (left > 0) notes.push(`${left} were kept, because their copies in files could not be removed.`);
  const gone = given.apply ? await store.purge(ready) : ready;
  const places = await stillIn(opened, gone);
  if (places.length > 0)
    notes.push(`Also written in ${places.join(', ')}: remove it there, or answers will have it again.`);
  const safe = shownBy(opened);
  return { memories: gone.map(safe.entry), revisions, applied: given.apply, notes };
}

/** Where people have written the same: once the store has forgotten it, nothing hides that any more. */
async function stillIn(opened: OpenMemory, gone: readonly MemoryEntry[]): Promise<string[]> {
  const texts = new Set(gone.flatMap(({ type, id, text }) => [`${type} ${id}`, `${type} ${lineText(text)}`]));
  return (await kitCandidates(opened, undefined))
    .filter(
      ({ entry: { type, id, text } }) => texts.has(`${type} ${id}`) || texts.has(`${type} ${lineText(text)}`),
    )
    .map(({ place }) => place);
}

async function forgottenBefore(
  store: MemoryStore,
  { forgottenBefore: before, type }: ToPurge,
): Promise<MemoryEntry[]> {
  if (before === undefined)
    throw new BmadError('invalid_input', 'Nothing to purge was specified.', {
      hint: 'Pass the ids of forgotten memories, or a date with forgotten_before.',
    });
  return allEntries(store, {
    types: type === undefined ? undefined : [type],
    forgottenBefore: momentOf(before, 'first'),
    includeSuperseded: true,
  });
}

async function forgottenWithIds(
  store: MemoryStore,
  ids: readonly string[],
  { type, forgottenBefore: before }: ToPurge,
): Promise<MemoryEntry[]> {
  if (before !== undefined)
    throw new BmadError('invalid_input', 'Both ids and a date were given; only one is allowed.', {
      hint: 'Pass either ids or forgotten_before.',
    });
  const found: MemoryEntry[] = [];
  for (const id of new Set(ids)) {
    const all = (await store.find(id)).filter((entry) => type === undefined || entry.type === type);
    const forgotten = all.filter(isForgotten);
    if (all.length === 0)
      throw new BmadError('not_found', `There is no memory with the id ${id}.`, {
        subject: 'ids',
        steps: [{ operation: 'memory_list', args: { all: true }, why: 'List forgotten memories too' }],
      });
    if (forgotten.length === 0)
      throw new BmadError('forbidden', `${id} is not forgotten; only forgotten memories are purged.`, {
        subject: 'ids',
        hint: 'Nothing was removed.',
        steps: [{ operation: 'memory_forget', args: { id }, why: 'Forget it first' }],
      });
    found.push(...forgotten);
  }
  return found;
}
