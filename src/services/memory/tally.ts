import { MEMORY_TYPES, type MemoryEntry, type MemoryType } from '../../model/memory.ts';
import type { MemoryStats } from './store.ts';

export function noneOfEachType(): Record<MemoryType, number> {
  return Object.fromEntries(MEMORY_TYPES.map((type) => [type, 0])) as Record<MemoryType, number>;
}

export function sortedCounts(counts: ReadonlyMap<string, number>): Record<string, number> {
  return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The figures of a store whose entries are all at hand. */
export function tally(entries: Iterable<MemoryEntry>, spaces: MemoryStats['spaces']): MemoryStats {
  const stats: MemoryStats = {
    total: 0,
    live: 0,
    superseded: 0,
    forgotten: 0,
    byType: noneOfEachType(),
    byAgent: {},
    spaces,
    oldest: undefined,
    newest: undefined,
  };
  const agents = new Map<string, number>();
  for (const entry of entries) {
    stats.total++;
    if (entry.forgottenAt !== undefined) stats.forgotten++;
    else if (entry.supersededAt !== undefined) stats.superseded++;
    else {
      stats.live++;
      stats.byType[entry.type]++;
      agents.set(entry.agent, (agents.get(entry.agent) ?? 0) + 1);
    }
    if (stats.oldest === undefined || entry.createdAt < stats.oldest) stats.oldest = entry.createdAt;
    if (stats.newest === undefined || entry.updatedAt > stats.newest) stats.newest = entry.updatedAt;
  }
  stats.byAgent = sortedCounts(agents);
  return stats;
}
