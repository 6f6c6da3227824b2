import type { BmadRecord } from '../../model/record.ts';
import type { Workspace } from '../context.ts';
import { recordItem, type Item } from './list-items.ts';

export interface RankedItems {
  items: Item[];
  /** The names of those that were put first, in their order. */
  lifted: string[];
}

/**
 * A list in its usual order, module after module, but with what was started or is boosted first in its module. Lists of
 * the protocol, which hosts keep, do not come through here.
 */
export async function rankedItems(items: readonly Item[], workspace: Workspace): Promise<RankedItems> {
  const ranking = await workspace.ranking();
  if (ranking.isPlain) return { items: [...items], lifted: [] };
  const records = recordsOf(workspace);
  const ranked = groups(items).flatMap((group) => ranking.lifted(group, (item) => records.get(item)));
  const lifted = ranked.filter((item) => {
    const record = records.get(item);
    return record !== undefined && ranking.standsOut(record);
  });
  return { items: ranked, lifted: lifted.map(({ name }) => name) };
}

/** Neighbours of the same module and origin. */
function groups(items: readonly Item[]): Item[][] {
  const found: Item[][] = [];
  for (const item of items) {
    const last = found.at(-1);
    const [first] = last ?? [];
    if (last !== undefined && first?.module === item.module && first?.origin === item.origin) last.push(item);
    else found.push([item]);
  }
  return found;
}

const byWorkspace = new WeakMap<Workspace, ReadonlyMap<Item, BmadRecord>>();

/** Each record has one item, made once. */
function recordsOf(workspace: Workspace): ReadonlyMap<Item, BmadRecord> {
  const known =
    byWorkspace.get(workspace) ??
    new Map(workspace.catalogue.winners.map((record) => [recordItem(record, workspace), record]));
  byWorkspace.set(workspace, known);
  return known;
}
