import { BmadError } from '../../base/errors.ts';
import type { Step } from '../../base/step.ts';
import type { GitCache, Relation, Sighting, Snapshot } from '../../sources/git/cache.ts';
import type { ConfiguredSource } from './configured.ts';
import type { PinsOfLevels } from './levels.ts';
import type { Pin } from './lock-file.ts';

/** The state of a source: what is approved, what of it is on this machine, and what its remote had when last asked. */
export interface SourceView extends ConfiguredSource {
  pin?: Pin;
  /** The approved content, when it is on this machine: this is what is served. */
  served?: Snapshot;
  /** Newer content that is here and waits for approval. */
  pending?: Snapshot;
  /** How the waiting content relates to the approved content. */
  relation?: Relation;
  sighting?: Sighting;
  /** Why it is not served, or why its remote could not be asked. */
  trouble?: string;
}

/** Puts together what the disk knows about a source; no remote is asked. */
export async function viewSource(
  source: ConfiguredSource,
  pins: PinsOfLevels,
  cache: GitCache,
  /** Whether the user has fetched it here, which a source that only the project lists needs. */
  allowed: boolean,
): Promise<SourceView> {
  const { address } = source;
  const level = pins[source.layer === 'project' ? 'project' : 'user'];
  if (level instanceof BmadError) return { ...source, trouble: level.line };
  const view: SourceView = { ...source };
  const pin = level[address.source];
  const sighting = await cache.sighting(address);
  if (sighting !== undefined) view.sighting = sighting;
  if (pin !== undefined) {
    view.pin = pin;
    const copy = await cache.snapshot(address, pin.commit);
    if (copy !== undefined && copy.digest !== pin.digest) view.trouble = otherContent(address.source, pin);
    else if (copy !== undefined && allowed) view.served = copy;
    if (sighting?.commit !== undefined && sighting.commit !== pin.commit) {
      const newer = await cache.snapshot(address, sighting.commit);
      if (newer !== undefined && newer.digest !== pin.digest && allowed) view.pending = newer;
      if (sighting.relation?.to === pin.commit) view.relation = sighting.relation.how;
    }
  }
  if (sighting?.trouble !== undefined) view.trouble ??= sighting.trouble;
  return view;
}

export function otherContent(source: string, { commit }: Pin): string {
  return `${source}: commit ${commit.slice(0, 12)} does not match the lock file and is not served. Compare the lock file with your team’s.`;
}

export function updateStep(args: { source: string; approve?: true }, why: string): Step {
  return { operation: 'sources_update', args, why };
}
