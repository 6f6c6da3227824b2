import { sha256 } from '../../base/sha256.ts';
import { foreignCursor } from '../../base/text/paging.ts';
import type { Task } from '../../model/task.ts';

/**
 * A page of tasks, the one that changed last first. The cursor names the last task that was shown and when it had changed,
 * and goes on with what is older: nothing is shown twice or passed over because something came or changed in between. What
 * has changed since is at the beginning, for a client that starts over.
 */
export function pageByChange(
  tasks: readonly Task[],
  size: number,
  filters: string,
  cursor: string | undefined,
): { part: Task[]; next: string | undefined } {
  const mark = `c${sha256(filters).slice(0, 8)}-`;
  const shown = cursor === undefined ? undefined : placeIn(cursor, mark);
  const older = tasks
    .filter((task) => shown === undefined || placeOf(task) < shown)
    .sort((a, b) => (placeOf(a) > placeOf(b) ? -1 : 1));
  const part = older.slice(0, size);
  const last = part.at(-1);
  return {
    part,
    next: last === undefined || part.length === older.length ? undefined : mark + placeOf(last),
  };
}

function placeOf({ updated_at, task_id }: Task): string {
  return `${updated_at}/${task_id}`;
}

function placeIn(cursor: string, mark: string): string {
  const place = cursor.startsWith(mark) ? cursor.slice(mark.length) : '';
  if (!/^[\w.:+-]+\/task-[\w-]+$/.test(place)) throw foreignCursor();
  return place;
}
