import { join } from 'node:path';
import { BmadError, quoted } from '../../../base/errors.ts';
import { copyNew, draftOf, moveFile } from '../../../base/files/file-tree.ts';
import { replaceLog } from '../../../base/files/file-log.ts';
import { removeTree } from '../../../base/files/file-state.ts';
import type { Analyser } from '../../../meaning/analyser.ts';
import { dailyCopies, type DailyCopy } from '../daily-copies.ts';
import { LOG_FILE, SQLITE_FILE } from '../open.ts';
import { preparePlace, type MemoryPlace } from '../place.ts';

export interface RestoredCopy {
  copy: DailyCopy;
  /** How many memories it has, forgotten ones too. */
  memories: number;
  /** The store that it takes the place of. */
  to: string;
  /** Where that store is now; nothing is deleted. */
  kept: string | undefined;
  applied: boolean;
}

interface Restoring {
  place: MemoryPlace;
  copies: string;
  analyser: Analyser;
}

/** Puts a daily copy in the place of the store, which is kept beside it. Without `apply` it only says what would be done. */
export async function restoreCopy(
  { place, copies, analyser }: Restoring,
  day: string,
  apply: boolean,
): Promise<RestoredCopy> {
  const all = await dailyCopies(copies);
  const copy = all.find((each) => each.day === day);
  if (copy === undefined)
    throw new BmadError('not_found', `There is no copy of ${quoted(day)}.`, {
      subject: 'restore',
      suggestions: all.map((each) => each.day),
      steps: [{ operation: 'memory_copies', why: 'List the copies' }],
    });
  const sqlite = copy.engine === 'sqlite';
  const to = join(place.folder, sqlite ? SQLITE_FILE : LOG_FILE);
  const memories = await checked(copy, analyser);
  if (!apply) return { copy, memories, to, kept: undefined, applied: false };
  await preparePlace(place);
  const draft = draftOf(to);
  try {
    await copyNew(copy.path, draft);
    await asSuccessor(copy, draft, analyser);
    const kept = join(place.folder, `replaced-${new Date().toISOString().replace(/[:.]/g, '-')}`);
    const aside = `${kept}.${sqlite ? 'db' : 'jsonl'}`;
    const wasThere = await moveFile(to, aside);
    // Its log belongs to it, and would be taken for that of the copy.
    for (const rest of ['-wal', '-shm', '-journal']) await moveFile(`${to}${rest}`, `${aside}${rest}`);
    await moveFile(draft, to);
    return { copy, memories, to, kept: wasThere ? aside : undefined, applied: true };
  } finally {
    for (const rest of ['', '-wal', '-shm', '-journal']) await removeTree(`${draft}${rest}`);
  }
}

async function checked(copy: DailyCopy, analyser: Analyser): Promise<number> {
  if (copy.engine === 'jsonl') {
    const { checkedLog } = await import('../jsonl/state.ts');
    return (await checkedLog(copy.path, analyser)).kept.size;
  }
  const [{ checkedCopy }, { sqliteDriver }] = await Promise.all([
    import('../sqlite/copy.ts'),
    import('../sqlite/driver.ts'),
  ]);
  return checkedCopy(copy.path, await sqliteDriver());
}

/** Hosts that have the old store open do not bring what it has into this one. */
async function asSuccessor({ engine }: DailyCopy, draft: string, analyser: Analyser): Promise<void> {
  if (engine === 'jsonl') {
    const { checkedLog } = await import('../jsonl/state.ts');
    const state = await checkedLog(draft, analyser);
    if (state.store !== undefined) state.took.push(state.store);
    state.store = undefined;
    await replaceLog(draft, state.compact());
    return;
  }
  const [{ makeSuccessor }, { sqliteDriver }] = await Promise.all([
    import('../sqlite/copy.ts'),
    import('../sqlite/driver.ts'),
  ]);
  makeSuccessor(draft, await sqliteDriver());
}
