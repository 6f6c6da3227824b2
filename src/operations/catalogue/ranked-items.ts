import type { Workspace } from '../context.ts';
import type { Entry } from './list-items.ts';

export interface RankedEntries {
  entries: readonly Entry[];
  /** The names of those that were put first, in their order. */
  lifted: string[];
}

/**
 * A list in its usual order, module after module, but with what was started or is boosted first in its module. Lists of
 * the protocol, which hosts keep, do not come through here.
 */
export async function rankedEntries(entries: readonly Entry[], workspace: Workspace): Promise<RankedEntries> {
  const ranking = await workspace.ranking();
  if (ranking.isPlain) return { entries, lifted: [] };
  const ranked = groups(entries).flatMap((group) => ranking.lifted(group, ({ record }) => record));
  const lifted = ranked.filter(({ record }) => record !== undefined && ranking.standsOut(record));
  return { entries: ranked, lifted: lifted.map(({ item }) => item().name) };
}

/** Neighbours of the same module and origin. */
function groups(entries: readonly Entry[]): Entry[][] {
  const found: Entry[][] = [];
  for (const entry of entries) {
    const last = found.at(-1);
    const [first] = last ?? [];
    if (last !== undefined && first?.module === entry.module && first?.origin === entry.origin)
      last.push(entry);
    else found.push([entry]);
  }
  return found;
}
