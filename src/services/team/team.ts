import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { mapLimited } from '../../base/async.ts';
import { BmadError } from '../../base/errors.ts';
import { parseGitAddress, type GitAddress } from '../../sources/git/address.ts';
import type { GitCache, Relation, Sighting, Snapshot } from '../../sources/git/cache.ts';
import type { GitOptions } from '../../sources/git/git.ts';
import { addToConfig, removeFromConfig } from './config-list.ts';
import { chosenSource, type ConfiguredSource, type SourceLayer } from './configured.ts';
import type { Review, ReviewedState } from './review.ts';
import { changePins, readPins, type Pin, type Pins } from './lock-file.ts';

/** The files of one level: a project shares them with its team, a user has them alone. */
export interface LevelFiles {
  config: string;
  lock: string;
}

export interface TeamParts {
  sources: readonly ConfiguredSource[];
  cache: GitCache;
  user: LevelFiles;
  /** Nothing outside of a project. */
  project: LevelFiles | undefined;
  /** Folder for the locks that keep two processes from changing one file. */
  guards: string;
  /** Whether changes of a source wait for a person; a moved tag and a rewritten history always do. */
  approval: 'ask' | 'auto';
}

/** A source as it stands: what is approved, what of it is here, and what its remote had when last asked. */
export interface SourceView extends ConfiguredSource {
  pin?: Pin;
  /** The approved content, when it is on this machine: this is what is served. */
  served?: Snapshot;
  /** Newer content that is here and waits for approval. */
  pending?: Snapshot;
  relation?: Relation;
  sighting?: Sighting;
  /** Why it is not served, or why its remote could not be asked. */
  trouble?: string;
}

export interface UpdateResult {
  view: SourceView;
  outcome: 'pinned' | 'unchanged' | 'pending' | 'approved' | 'failed';
  /** The commit that was approved before, where there was one. */
  before?: string;
  error?: BmadError;
}

const AT_ONCE = 4;

/** The git sources of a project and its user: which version of each is approved, and how that changes. */
export class TeamSources {
  readonly parts: TeamParts;

  constructor(parts: TeamParts) {
    this.parts = parts;
  }

  /** All sources as they stand. Reads the disk only. */
  async views(sources: readonly ConfiguredSource[] = this.parts.sources): Promise<SourceView[]> {
    const pins = await this.#pins();
    return mapLimited(sources, AT_ONCE, (source) => this.#view(source, pins));
  }

  /** Brings what is approved or wanted for the first time and not here yet. Answers whether something was brought. */
  async settle(options: GitOptions, told: (view: SourceView) => void = () => undefined): Promise<boolean> {
    const missing = (await this.views()).filter(
      ({ served, layer }) => served === undefined && layer !== 'project',
    );
    const results = await mapLimited(missing, AT_ONCE, async (view) => {
      try {
        return (await this.#bring(view, options)) !== undefined;
      } catch (error) {
        if (!(error instanceof BmadError)) throw error;
        told({ ...view, trouble: error.line });
        return false;
      }
    });
    return results.includes(true);
  }

  /** Asks the remotes. What is new is fetched; it is served once it is approved. */
  async update(
    sources: readonly ConfiguredSource[],
    approve: boolean,
    options: GitOptions,
  ): Promise<UpdateResult[]> {
    return mapLimited(sources, AT_ONCE, async (source) => {
      try {
        return await this.#updateOne(source, approve, options);
      } catch (error) {
        if (!(error instanceof BmadError)) throw error;
        const view = await this.#viewOf(source);
        return { view: { ...view, trouble: error.message }, outcome: 'failed', error };
      }
    });
  }

  /** The source somebody means by a name. */
  named(name: string): ConfiguredSource {
    return chosenSource(name, this.parts.sources);
  }

  parsed(source: string): GitAddress {
    return parseGitAddress(source);
  }

  /** The content a source has now, for a look before it is added. */
  async fetched(address: GitAddress, options: GitOptions): Promise<Snapshot> {
    return this.parts.cache.refresh(address, options);
  }

  async review(before: ReviewedState, after: ReviewedState): Promise<Review> {
    const { reviewChanges } = await import('./review.ts');
    return reviewChanges(before, after);
  }

  /** Lets the content that waits be served from now on. */
  async approve(view: SourceView): Promise<void> {
    if (view.pending === undefined) return;
    await this.pinTo(view, { commit: view.pending.commit, digest: view.pending.digest });
  }

  async pinTo(
    { address, layer }: Pick<ConfiguredSource, 'address' | 'layer'>,
    pin: Pin | undefined,
  ): Promise<void> {
    const file = this.lockFile(layer);
    await changePins(file, this.#guard(file), (pins) => {
      if (pin === undefined) delete pins[address.source];
      else pins[address.source] = { commit: pin.commit, digest: pin.digest };
    });
  }

  /** Names a source in the configuration of a level and pins it, unless that level has a pin for it already. */
  async add(address: GitAddress, level: 'project' | 'user', found: Snapshot): Promise<SourceView> {
    const files = this.#files(level);
    const source: ConfiguredSource = { address, layer: level, from: files.config };
    await this.#pinFirst(source, found);
    await addToConfig(files.config, address.source);
    return this.#viewOf(source);
  }

  /** Takes a source out of the configuration and the lock file of its level. */
  async remove({ address, layer, from }: ConfiguredSource): Promise<string> {
    if (layer === 'flag' || layer === 'environment')
      throw new BmadError(
        'invalid_input',
        `${address.source} is not in a configuration file: it comes from ${from}.`,
        {
          subject: address.source,
          hint: `Take it out there.`,
        },
      );
    const { config } = this.#files(layer);
    // Both files or neither: a damaged lock file is found before the other is changed.
    await readPins(this.lockFile(layer));
    await removeFromConfig(config, (entry) => isSource(entry, address.source));
    await this.pinTo({ address, layer }, undefined);
    return config;
  }

  #files(level: 'project' | 'user'): LevelFiles {
    const files = this.parts[level];
    if (files !== undefined) return files;
    throw new BmadError('invalid_input', 'There is no project here that could have a source of its own.', {
      hint: 'Go to the folder of a project, name it with --project, or add the source for yourself with --level user.',
    });
  }

  /** Sources a project lists are pinned in the project, for everybody; all others for the user. */
  lockFile(layer: SourceLayer): string {
    return layer === 'project' && this.parts.project !== undefined
      ? this.parts.project.lock
      : this.parts.user.lock;
  }

  async #updateOne(source: ConfiguredSource, approve: boolean, options: GitOptions): Promise<UpdateResult> {
    const { address } = source;
    const before = await this.#viewOf(source);
    const { pin } = before;
    if (pin === undefined) {
      await this.#bring(before, options);
      return { view: await this.#viewOf(source), outcome: 'pinned' };
    }
    // The approved content comes first: what waits for approval can only be compared with something that is here.
    if (before.served === undefined) await this.#obtain(before, pin, options).catch(ignoreAbsence(options));
    const found = await this.parts.cache.refresh(address, options);
    if (found.commit === pin.commit && found.digest === pin.digest)
      return { view: await this.#viewOf(source), outcome: 'unchanged' };
    // The same commit cannot have other content: the lock file is wrong, or somebody has tampered with it.
    if (found.commit === pin.commit && !approve)
      throw new BmadError('unavailable', otherContent(address.source, pin), {
        subject: address.source,
        hint: 'If it is the lock file that is wrong, "bmad sources update --approve" pins what is there.',
      });
    if (found.digest === pin.digest) {
      await this.pinTo(source, found);
      return { view: await this.#viewOf(source), outcome: 'unchanged', before: pin.commit };
    }
    const relation = await this.parts.cache.relate(address, pin.commit, options);
    const automatic = this.parts.approval === 'auto' && relation === 'continued';
    if (approve || automatic) await this.pinTo(source, found);
    return {
      view: { ...(await this.#viewOf(source)), relation },
      outcome: approve || automatic ? 'approved' : 'pending',
      before: pin.commit,
    };
  }

  async #bring(view: SourceView, options: GitOptions): Promise<Snapshot | undefined> {
    if (view.pin !== undefined) return this.#obtain(view, view.pin, options);
    // Read before anything is fetched: a damaged lock file must not be taken for an empty one.
    await readPins(this.lockFile(view.layer));
    const found = await this.parts.cache.refresh(view.address, options);
    await this.#pinFirst(view, found);
    return found;
  }

  /** Another process may have been the first; its pin stands. */
  async #pinFirst({ address, layer }: ConfiguredSource, { commit, digest }: Snapshot): Promise<void> {
    const file = this.lockFile(layer);
    await changePins(file, this.#guard(file), (pins) => {
      pins[address.source] ??= { commit, digest };
    });
  }

  async #obtain({ address }: SourceView, pin: Pin, options: GitOptions): Promise<Snapshot> {
    let found: Snapshot;
    try {
      found = await this.parts.cache.obtain(address, pin.commit, options);
    } catch (error) {
      if (!(error instanceof BmadError) || error.code !== 'not_found') throw error;
      throw new BmadError(
        'not_found',
        `${address.source}: the approved commit ${pin.commit.slice(0, 12)} is no longer at the remote; its history was rewritten, or the lock file is wrong.`,
        {
          subject: address.source,
          hint: 'See what is there now with "bmad sources update" and "bmad sources diff".',
          cause: error,
        },
      );
    }
    if (found.digest !== pin.digest)
      throw new BmadError('unavailable', otherContent(address.source, pin), { subject: address.source });
    return found;
  }

  async #viewOf(source: ConfiguredSource): Promise<SourceView> {
    return this.#view(source, await this.#pins());
  }

  async #view(source: ConfiguredSource, pins: PinsOfLevels): Promise<SourceView> {
    const { cache } = this.parts;
    const { address } = source;
    const view: SourceView = { ...source };
    const level = pins[source.layer === 'project' ? 'project' : 'user'];
    if (level instanceof BmadError) return { ...view, trouble: level.message };
    const pin = level[address.source];
    const sighting = await cache.sighting(address);
    if (sighting !== undefined) view.sighting = sighting;
    if (pin !== undefined) {
      view.pin = pin;
      const copy = await cache.snapshot(address, pin.commit);
      if (copy !== undefined && copy.digest !== pin.digest) view.trouble = otherContent(address.source, pin);
      else if (copy !== undefined) view.served = copy;
    }
    const seen = sighting?.commit;
    if (seen !== undefined && seen !== pin?.commit) {
      const newer = await cache.snapshot(address, seen);
      if (newer !== undefined && newer.digest !== pin?.digest) view.pending = newer;
      if (sighting?.relation?.to === pin?.commit && sighting?.relation !== undefined)
        view.relation = sighting.relation.how;
    }
    if (sighting?.trouble !== undefined) view.trouble ??= sighting.trouble;
    return view;
  }

  /** A lock file that cannot be understood costs the sources that are pinned in it, and no others. */
  async #pins(): Promise<PinsOfLevels> {
    const read = async (file: string | undefined): Promise<Pins | BmadError> => {
      try {
        return file === undefined ? {} : await readPins(file);
      } catch (error) {
        if (error instanceof BmadError) return error;
        throw error;
      }
    };
    return { project: await read(this.parts.project?.lock), user: await read(this.parts.user.lock) };
  }

  #guard(file: string): string {
    const key = createHash('sha256').update(file).digest('hex').slice(0, 32);
    return join(this.parts.guards, `${key}.lock`);
  }
}

function isSource(text: string, source: string): boolean {
  try {
    return parseGitAddress(text).source === source;
  } catch {
    return false;
  }
}

type PinsOfLevels = Record<'project' | 'user', Pins | BmadError>;

function otherContent(source: string, { commit }: Pin): string {
  return `${source}: commit ${commit.slice(0, 12)} has other content than the lock file says; it is not served. Compare the lock file with the one of your team.`;
}

function ignoreAbsence({ signal }: GitOptions): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof BmadError) || signal?.aborted === true) throw error;
  };
}
