import { BmadError } from '../../base/errors.ts';
import type { Step } from '../../base/step.ts';
import { t } from '../../base/text/message.ts';
import { ago } from '../../base/text/text.ts';
import type { GitMount } from '../../sources/discover.ts';
import type { GitCache, Relation, Sighting, Snapshot } from '../../sources/git/cache.ts';
import type { ConfiguredSource } from './configured.ts';
import type { Pin, PinsOfLevels } from './lock-files.ts';

/** The state of a source: what is approved, what of it is on this machine, and what its remote had when last asked. */
export interface SourceView extends ConfiguredSource {
  /** What a person on this machine has approved. */
  pin?: Pin;
  /** What the lock file names, which others may have changed. */
  locked?: Pin;
  /** The approved content, when it is on this machine: this is what is served. */
  served?: Snapshot;
  /** Other content that is here and waits for approval. */
  pending?: Snapshot;
  /** How the waiting content relates to the approved content. */
  relation?: Relation | 'approved elsewhere';
  sighting?: Sighting;
  /** Why it is not served, or why its remote could not be asked. */
  trouble?: string;
}

export const sameContent = (one: { digest: string }, other: { digest: string } | undefined): boolean =>
  one.digest === other?.digest;

/** Puts together what the disk knows about a source; no remote is asked. */
export async function viewSource(
  source: ConfiguredSource,
  pins: PinsOfLevels,
  cache: GitCache,
  /** What the user has agreed to; a source that only the project lists needs that. */
  agreed: Pin | 'locked' | undefined,
): Promise<SourceView> {
  const { address } = source;
  const level = pins[source.layer === 'project' ? 'project' : 'user'];
  if (level instanceof BmadError) return { ...source, trouble: level.line };
  const view: SourceView = { ...source };
  const locked = level[address.source];
  const sighting = await cache.sighting(address);
  if (sighting !== undefined) view.sighting = sighting;
  if (locked !== undefined) view.locked = locked;
  const pin = agreed === 'locked' ? locked : agreed;
  if (pin !== undefined && locked !== undefined) {
    view.pin = pin;
    const copy = await cache.snapshot(address, pin.commit);
    if (copy !== undefined && !sameContent(copy, pin)) view.trouble = otherContent(address.source, pin);
    else if (copy !== undefined) view.served = copy;
    const isMoved = !sameContent(pin, locked);
    const next = isMoved ? locked.commit : sighting?.commit;
    const newer = next === undefined || next === pin.commit ? undefined : await cache.snapshot(address, next);
    if (newer !== undefined && !sameContent(newer, pin) && (!isMoved || sameContent(newer, locked)))
      view.pending = newer;
    if (isMoved && view.pending === undefined)
      view.trouble ??= t`the project's lock file names another version, ${locked.commit.slice(0, 12)}, which no one has fetched and approved on this machine.`;
    if (isMoved) view.relation = 'approved elsewhere';
    else if (sighting?.relation?.to === pin.commit) view.relation = sighting.relation.how;
  }
  if (sighting?.trouble !== undefined) view.trouble ??= sighting.trouble;
  return view;
}

export function otherContent(source: string, { commit }: Pin): string {
  return t`${source}: commit ${commit.slice(0, 12)} does not match the lock file and is not served. Compare the lock file with your team’s.`;
}

export function updateStep(args: { source: string }, why: string): Step {
  return { operation: 'sources_update', args, why };
}

export interface Served {
  mounts: GitMount[];
  warnings: string[];
  /** What a person can do about them. */
  steps: Step[];
  absent: string[];
}

/** The content of these sources that is served, and notes about the rest. */
export function servedOf(
  views: readonly SourceView[],
  fetching: ReadonlySet<string>,
  troubles: ReadonlyMap<string, string>,
): Served {
  const said = views.map((view) => {
    const { source } = view.address;
    const trouble = view.trouble ?? (view.served === undefined ? troubles.get(source) : undefined);
    return warningsOf(trouble === undefined ? view : { ...view, trouble }, fetching.has(source));
  });
  return {
    mounts: views.flatMap((view) => (view.served === undefined ? [] : [mountOf(view, view.served)])),
    warnings: said.flatMap(({ warnings }) => warnings),
    steps: said.flatMap(({ steps }) => steps),
    absent: views.flatMap(({ served, address }) => (served === undefined ? [address.source] : [])),
  };
}

function mountOf({ address }: SourceView, { folder, commit }: { folder: string; commit: string }): GitMount {
  const { org, repo, ref, subpath, source } = address;
  const owner = org.split('/').at(-1) ?? '';
  const place = `${owner === '' ? '' : `${owner}/`}${repo}${ref === '' ? '' : `#${ref}`}${subpath === undefined ? '' : `:/${subpath}`}`;
  return { label: `${place}@${commit.slice(0, 8)}`, name: moduleName(address), folder, source, commit };
}

/** The folder's name says nothing where it is one of those that every repository has. */
function moduleName({ name, repo }: SourceView['address']): string {
  return /^(?:skills|src|agents|bmad|content|\..*)$/i.test(name) ? repo : name;
}

/** What a person should know about a source that is not simply served. */
function warningsOf(view: SourceView, fetching: boolean): Pick<Served, 'warnings' | 'steps'> {
  const { address, served, pending, trouble, layer, sighting, relation } = view;
  const { source } = address;
  const warnings: string[] = [];
  const steps: Step[] = [];
  if (served === undefined && fetching)
    warnings.push(t`${source} is being fetched and will be served when the fetch finishes.`);
  else if (served === undefined) {
    warnings.push(
      layer === 'project' && trouble === undefined
        ? t`${source} is listed by the project and not on this machine yet.`
        : t`${source} is not served: ${trouble ?? t`it has not been fetched yet.`}`,
    );
    // A source that no file lists is only known to a program that is given it.
    const given = layer === 'flag' || layer === 'environment' ? t`, with --git ${source}` : '';
    steps.push({ operation: 'sources_update', why: t`Fetch it${given}` });
  } else if (trouble !== undefined)
    warnings.push(
      t`${source} is served from the copy of ${ago(sighting?.checkedAt ?? served.fetchedAt, Date.now())}: ${trouble}`,
    );
  if (pending !== undefined && served !== undefined) {
    const how = relation === undefined || relation === 'continued' ? '' : ` (${relation})`;
    warnings.push(t`${source} has changes that wait for your approval${how}.`);
    steps.push({ operation: 'sources_diff', why: t`See the changes` });
  }
  return { warnings, steps };
}
