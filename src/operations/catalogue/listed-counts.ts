import { isListed } from '../../model/record.ts';
import type { Workspace } from '../context.ts';

/** How many of each kind are served and shown in lists; old names, which only answer when called, are counted apart. */
export function listedCounts({ catalogue }: Workspace): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const record of catalogue.winners) {
    if (!record.exists || record.origin === catalogue.aside) continue;
    const kind = isListed(record) ? record.kind : record.deprecated === undefined ? undefined : 'deprecated';
    if (kind !== undefined) counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}
