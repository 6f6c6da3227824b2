import { t } from '../../base/text/message.ts';
import { BmadError, expected, systemCode } from '../../base/errors.ts';
import { readOnlyFolder } from '../../base/files/file-refusals.ts';
import { deadMarks, giveUpMark, leaveMark, removeMark } from '../../base/files/file-marks.ts';
import { ensureFolder } from '../../base/files/file-modes.ts';
import type { MemoryEntry, MemoryKey, MemoryRevision } from '../../model/memory.ts';
import { dropTraced } from '../../kit/memories/decisions.ts';
import { jailOf } from '../../kit/kit.ts';
import {
  type KitWriting,
  removeFromKitFiles,
  writeKitFiles,
  type Written,
} from '../../kit/memories/write.ts';
import { entityOf, keyOfEntity } from './fold.ts';
import { kitCandidates, type OpenMemory, type Session, shownBy } from './opened.ts';
import { allEntries, MemoryStore } from './store.ts';

/**
 * The copies of memories in the files of the project. The store is changed first and the files after it; a process that
 * dies in between leaves a mark, and the next write or the next opening completes the work.
 */

const MARKS = 'unfinished';

const NO_COPIES: Written = { files: [], problems: [], complete: true };

/** How a memory was made, for the kit's log; undefined if no one asked for it to be remembered. */
type Mode = 'semantic' | 'local' | undefined;

export async function withCopies<T extends { entry: MemoryEntry }>(
  opened: OpenMemory,
  session: Session,
  key: MemoryKey,
  change: () => Promise<T>,
  mode?: Mode,
): Promise<T & Omit<Written, 'complete'>> {
  if (opened.files.kit.memory === undefined) return { ...(await change()), files: [], problems: [] };
  const { folder } = opened;
  const mark = await ensureFolder(folder, jailOf(folder))
    .then(() => leaveMark(folder, MARKS, entityOf(key)))
    .catch((error: unknown) => {
      // The mark is our own affair; what matters is that nothing can be written there.
      throw isReadOnly(error) ? readOnlyFolder(folder, error) : error;
    });
  let done = false;
  try {
    const result = await change();
    const { files, problems, complete } = await copied(opened, session.store, result.entry, mode);
    done = complete;
    await completed(opened, session);
    return { ...result, files, problems };
  } catch (error) {
    // A store that cannot be asked may have made the change all the same.
    done = error instanceof BmadError && error.code !== 'unavailable';
    throw error;
  } finally {
    if (done) await removeMark(mark);
    else giveUpMark(mark);
  }
}

function isReadOnly(error: unknown): boolean {
  const code = error instanceof BmadError ? systemCode(error.cause) : undefined;
  return code === 'EACCES' || code === 'EPERM' || code === 'EROFS';
}

async function copied(
  opened: OpenMemory,
  store: MemoryStore,
  entry: MemoryEntry,
  mode?: Mode,
): Promise<Written> {
  const writing = await writingOf(opened, store);
  const earlier = entry.revision > 1 ? await store.revisions(entry) : [];
  if (entry.forgottenAt !== undefined) return removeFromKitFiles(writing, entry, { earlier });
  if (entry.supersededAt !== undefined)
    return removeFromKitFiles(writing, entry, {
      earlier,
      keepLine: true,
      by: await successorOf(opened, store, entry),
    });
  // Only the kit's own tools read them: other projects have their memories as lines, and lose copies of earlier versions.
  if (opened.files.kit.keptWith !== undefined)
    return entry.revision > 1 ? removeFromKitFiles(writing, entry, { earlier }) : NO_COPIES;
  // A shared store may contain what must not be in files that a team commits.
  const safe = shownBy(opened).entry(entry);
  return writeKitFiles(writing, safe, {
    earlier: safe.text === entry.text ? earlier : [entry, ...earlier],
    mode,
  });
}

async function successorOf(
  opened: OpenMemory,
  store: MemoryStore,
  { supersededBy: id }: MemoryEntry,
): Promise<MemoryEntry | undefined> {
  if (id === undefined) return undefined;
  const [stored] = await store.find(id);
  const found =
    stored ?? (await kitCandidates(opened, undefined)).find(({ entry }) => entry.id === id)?.entry;
  return found === undefined ? undefined : shownBy(opened).entry(found);
}

export async function uncopied(
  opened: OpenMemory,
  store: MemoryStore,
  entry: MemoryEntry,
  earlier: readonly MemoryRevision[],
): Promise<Written> {
  const done = await removeFromKitFiles(await writingOf(opened, store), entry, {
    earlier,
    forGood: true,
  });
  if (entry.type !== 'decisions') return done;
  const texts = [entry, ...earlier].map(({ text }) => text);
  return dropTraced(opened.files.kit, texts).then(
    (path) => (path === undefined ? done : { ...done, files: [...done.files, path] }),
    expected(({ message }) => ({ ...done, problems: [...done.problems, message] })),
  );
}

async function writingOf(opened: OpenMemory, store: MemoryStore): Promise<KitWriting> {
  const { files, folder } = opened;
  return {
    kit: files.kit,
    agents: await files.agents(),
    locks: folder,
    mirror: await opened.mirror(),
    living: (type) => allEntries(store, { types: [type] }),
  };
}

/** Completes what crashed processes have begun. No one asked for it, so failures are left for the next time. */
export async function completed(opened: OpenMemory, { store }: Session): Promise<void> {
  if (opened.files.kit.memory === undefined) return;
  try {
    for (const mark of await deadMarks(opened.folder, MARKS)) {
      const key = keyOfEntity(String(mark.about));
      const entry = key === undefined ? undefined : await store.get(key);
      if (entry === undefined || (await copied(opened, store, entry)).complete) await removeMark(mark);
    }
  } catch (error) {
    opened.log.warn(t`project files could not be repaired`, {
      error: error instanceof Error ? error.message : '',
    });
  }
}
