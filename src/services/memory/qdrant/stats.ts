import { spaceText } from '../rank.ts';
import type { Stored } from '../change.ts';
import type { MemoryStats } from '../store.ts';
import { noneOfEachType, sortedCounts } from '../tally.ts';
import type { QdrantClient } from './client.ts';
import { infoOf, spaceIn, type Shelf } from './collections.ts';
import { empty, equal, storedOf } from './payload.ts';
import type { Points } from './points.ts';

const LIVE = { must: [empty('forgotten_at'), empty('superseded_at')] };

export async function statsOf(client: QdrantClient, shelves: readonly Shelf[]): Promise<MemoryStats> {
  const parts = await Promise.all(
    shelves.map(async ({ points }) => {
      const [total, live, superseded, forgotten, agents, oldest, newest] = await Promise.all([
        points.count({}),
        points.count(LIVE),
        points.count({ must: [empty('forgotten_at')], must_not: [empty('superseded_at')] }),
        points.count({ must_not: [empty('forgotten_at')] }),
        points.facet('agent', LIVE),
        edge(points, 'created_at', 'asc'),
        edge(points, 'updated_at', 'desc'),
      ]);
      return { total, live, superseded, forgotten, agents, oldest, newest };
    }),
  );
  const sum = (pick: (part: (typeof parts)[number]) => number): number =>
    parts.reduce((total, part) => total + pick(part), 0);
  const byType = noneOfEachType();
  for (const [index, { type }] of shelves.entries()) byType[type] = parts[index]?.live ?? 0;
  const agents = new Map<string, number>();
  for (const { value, count } of parts.flatMap((part) => part.agents))
    agents.set(value, (agents.get(value) ?? 0) + count);
  const times = (pick: 'oldest' | 'newest'): string[] =>
    parts.flatMap((part) => part[pick] ?? []).sort((a, b) => (a < b ? -1 : 1));
  return {
    total: sum(({ total }) => total),
    live: sum(({ live }) => live),
    superseded: sum(({ superseded }) => superseded),
    forgotten: sum(({ forgotten }) => forgotten),
    byType,
    byAgent: sortedCounts(agents),
    spaces: await spacesOf(client, shelves),
    oldest: times('oldest')[0],
    newest: times('newest').at(-1),
  };
}

export async function rewordedIn(shelves: readonly Shelf[]): Promise<Stored[]> {
  const found: Stored[] = [];
  for (const { points, type } of shelves)
    for await (const page of points.all({ must: [{ key: 'revision', range: { gt: 1 } }] }, true))
      found.push(...page.map(({ id, payload }) => storedOf(id, type, payload)));
  return found;
}

async function edge(points: Points, key: string, direction: 'asc' | 'desc'): Promise<string | undefined> {
  const [point] = await points.scroll({}, 1, { order_by: { key, direction }, with_payload: [key] });
  const value = point?.payload[key as 'created_at'];
  return typeof value === 'string' ? value : undefined;
}

async function spacesOf(client: QdrantClient, shelves: readonly Shelf[]): Promise<MemoryStats['spaces']> {
  const counts = new Map<string, MemoryStats['spaces'][number]>();
  for (const points of shelves.flatMap((shelf) => [shelf.points, ...shelf.others])) {
    const space = spaceIn(await infoOf(client, points.name));
    if (space === undefined) continue;
    const count = await points.count({ must: [equal('embedder', spaceText(space))] });
    const known = counts.get(spaceText(space));
    counts.set(spaceText(space), { ...space, count: count + (known?.count ?? 0) });
  }
  return [...counts.values()].filter(({ count }) => count > 0).sort((a, b) => b.count - a.count);
}
