import type { MemoryEntry } from '../../../model/memory.ts';
import { byPosition, type Position } from '../select.ts';
import type { Shelf } from './collections.ts';
import { storedOf, type Condition } from './payload.ts';

/** The first entries of a collection after a place in the order of lists. */
export async function firstOf(
  { points, type }: Shelf,
  filter: { must: Condition[]; must_not?: Condition[] },
  count: number,
  from: Position | undefined,
): Promise<MemoryEntry[]> {
  // The server sorts by time only, so it is asked for more until those of one moment are all there.
  for (let size = count + 16; ; size *= 4) {
    const start =
      from === undefined ? {} : { start_from: new Date(Date.parse(from.createdAt) + 1).toISOString() };
    const found = await points.scroll(filter, size, {
      order_by: { key: 'created_at', direction: 'desc', ...start },
      with_payload: { exclude: ['revisions'] },
    });
    const entries = found.map(({ id, payload }) => storedOf(id, type, payload).entry).sort(byPosition);
    const last = entries.at(-1)?.createdAt;
    const rest = from === undefined ? entries : entries.filter((entry) => byPosition(from, entry) < 0);
    if (found.length < size) return rest.slice(0, count);
    // The last timestamp may continue after what was read.
    const whole = rest.filter(({ createdAt }) => createdAt !== last);
    if (whole.length >= count) return whole.slice(0, count);
  }
}
