import { grouped } from '../base/grouped.ts';
import { fold } from '../base/text/suggest.ts';
import { isListed, shortName, type BmadRecord } from '../model/record.ts';
import { counterpart, identityOf } from './identity.ts';

export interface ServedOnce {
  served: BmadRecord[];
  /** What is not served, because another origin has the same thing, and what is served in its place. */
  overridden: ReadonlyMap<BmadRecord, BmadRecord>;
}

/**
 * Each thing from one origin: what a project has in an older generation is not offered a second time as it is built in.
 * One origin may have several records of a thing, such as workflows to create, edit and check a PRD; all of them are
 * served. `rank` says which origin comes first.
 */
export function servedOnce(winners: readonly BmadRecord[], rank: (record: BmadRecord) => number): ServedOnce {
  const first = new Map<string, BmadRecord[]>();
  const identities = new Map(winners.map((record) => [record, identityOf(record)]));
  for (const record of winners) {
    const identity = isListed(record) ? identities.get(record) : undefined;
    if (identity === undefined) continue;
    const known = first.get(identity);
    const best = known?.[0];
    if (best === undefined || rank(record) < rank(best)) first.set(identity, [record]);
    else if (record.origin === best.origin) known?.push(record);
  }
  const overridden = new Map<BmadRecord, BmadRecord>();
  const twinOf = (record: BmadRecord): BmadRecord | undefined => {
    const candidates = first.get(identities.get(record) ?? '') ?? [];
    const [best] = candidates;
    return best === undefined || best.origin === record.origin ? undefined : counterpart(record, candidates);
  };
  const originalOf = originals(winners, rank);
  for (const record of winners.filter(isListed)) {
    const original = originalOf(record);
    const twin = twinOf(original) ?? (original === record ? undefined : original);
    if (twin !== undefined) overridden.set(record, twin);
  }
  const old = winners.filter((each) => !isListed(each));
  const targetOf = old.length === 0 ? () => undefined : targets(winners);
  for (const record of old) {
    const instead = insteadOfOld(record, targetOf, overridden, twinOf);
    if (instead !== undefined) overridden.set(record, instead);
  }
  return { served: winners.filter((record) => !overridden.has(record)), overridden };
}

/**
 * The packs of version 4 bring copies of what they use of the core, and of each other. The one of the first rank is meant,
 * which is the core's where it is installed; a file that a pack has changed is the pack's own.
 */
function originals(
  winners: readonly BmadRecord[],
  rank: (record: BmadRecord) => number,
): (record: BmadRecord) => BmadRecord {
  const keyOf = ({ kind, name, likeness }: BmadRecord): string => `${kind} ${fold(name)} ${likeness ?? ''}`;
  const first = new Map<string, BmadRecord>();
  for (const record of winners.filter(({ likeness }) => likeness !== undefined)) {
    const best = first.get(keyOf(record));
    if (best === undefined || rank(record) < rank(best)) first.set(keyOf(record), record);
  }
  return (record) => (record.likeness === undefined ? undefined : first.get(keyOf(record))) ?? record;
}

/** What an old name stands for now, or what a launcher launches: the first there is. */
function targets(winners: readonly BmadRecord[]): (record: BmadRecord) => BmadRecord | undefined {
  const launched = new Set(winners.flatMap(({ launches }) => launches ?? []));
  const byPath = grouped(
    winners.filter(({ bmadRelativePath }) => launched.has(bmadRelativePath)),
    ({ bmadRelativePath }) => bmadRelativePath,
  );
  const byName = new Map<string, BmadRecord>();
  for (const record of winners)
    if (record.deprecated === undefined && !byName.has(record.name)) byName.set(record.name, record);
  return ({ launches, deprecated, origin }) =>
    launches === undefined
      ? byName.get(deprecated?.successor ?? '')
      : byPath.get(launches)?.find((other) => other.origin === origin);
}

/**
 * An old name leads on to what has replaced it, and a launcher to what it launches: they stay as long as that is served,
 * and no other origin has the very thing they are named after.
 */
function insteadOfOld(
  record: BmadRecord,
  targetOf: (record: BmadRecord) => BmadRecord | undefined,
  overridden: ReadonlyMap<BmadRecord, BmadRecord>,
  twinOf: (record: BmadRecord) => BmadRecord | undefined,
): BmadRecord | undefined {
  const twin = twinOf(record);
  if (twin !== undefined && fold(shortName(twin.name)) === fold(shortName(record.name))) return twin;
  const { deprecated } = record;
  if (deprecated !== undefined && deprecated.successor === undefined) return twin;
  const target = targetOf(record);
  const instead = target === undefined ? undefined : overridden.get(target);
  return instead === undefined ? undefined : (twin ?? instead);
}
