import { mapLimited } from '../../base/async.ts';
import { BmadError } from '../../base/errors.ts';
import { ours } from '../../base/expected.ts';
import { parseGitAddress, type GitAddress } from '../../sources/git/address.ts';
import type { GitCache, Snapshot } from '../../sources/git/cache.ts';
import type { GitOptions } from '../../sources/git/git.ts';
import { addToConfig, removeFromConfig } from './config-list.ts';
import { chosenSource, type ConfiguredSource, type SourceLayer } from './configured.ts';
import { Consents } from './consents.ts';
import { Levels, type LevelParts } from './levels.ts';
import { parsedOr, pinnedCopies, type Pin, type PinnedCopy } from './lock-file.ts';
import type { Review, ReviewedState } from './review.ts';
import { otherContent, updateStep, viewSource, type SourceView } from './view.ts';

export interface GitSourcesParts extends LevelParts {
  /** Folder in which it is remembered which project's sources the user has fetched. */
  consents: string;
  sources: readonly ConfiguredSource[];
  cache: GitCache;
  /** Whether changes of a source wait for a person; a moved tag and a rewritten history always do. */
  approval: 'ask' | 'auto';
}

interface UpdateOptions {
  /** Serve new content immediately. */
  approve?: boolean;
  /** No one has asked for it recently. */
  background?: boolean;
}

interface UpdateResult {
  view: SourceView;
  outcome: 'pinned' | 'unchanged' | 'pending' | 'approved' | 'failed';
  /** The commit that was approved before, where there was one. */
  before?: string;
  error?: BmadError;
}

const AT_ONCE = 4;

/** The git sources of a project and its user: which version of each is approved, and how that changes. */
export class GitSources {
  readonly sources: readonly ConfiguredSource[];
  readonly cache: GitCache;
  readonly #approval: GitSourcesParts['approval'];
  readonly #levels: Levels;
  readonly #consents: Consents;
  readonly #projectLock: string | undefined;
  readonly parsed = parseGitAddress;

  constructor(parts: GitSourcesParts) {
    this.sources = parts.sources;
    this.cache = parts.cache;
    this.#approval = parts.approval;
    this.#levels = new Levels(parts);
    this.#consents = new Consents(parts.consents);
    this.#projectLock = parts.project?.lock;
  }

  /** The current state of all sources. Only reads the disk. */
  async views(sources: readonly ConfiguredSource[] = this.sources): Promise<SourceView[]> {
    const pins = await this.#levels.pins();
    return mapLimited(sources, AT_ONCE, async (source) =>
      viewSource(source, pins, this.cache, await this.#allowed(source)),
    );
  }

  /**
   * Fetches what is approved, or requested for the first time, and missing here. What a project lists is left alone:
   * its author must not decide which hosts this machine talks to. Returns whether something was fetched.
   */
  async settle(options: GitOptions, told: (view: SourceView, error: BmadError) => void): Promise<boolean> {
    const missing = (await this.views()).filter(
      ({ served, layer }) => served === undefined && layer !== 'project',
    );
    const results = await mapLimited(missing, AT_ONCE, async (view) => {
      const failed = await this.#bring(view, options).catch(ours((error) => error));
      if (failed instanceof BmadError) told(view, failed);
      return !(failed instanceof BmadError);
    });
    return results.includes(true);
  }

  /** Asks the remotes. What is new is fetched; it is served once it is approved. */
  async update(
    sources: readonly ConfiguredSource[],
    how: UpdateOptions,
    options: GitOptions,
  ): Promise<UpdateResult[]> {
    return mapLimited(sources, AT_ONCE, (source) =>
      this.#updateOne(source, how, options).catch(
        ours(async (error): Promise<UpdateResult> => {
          const view = { ...(await this.#view(source)), trouble: error.message };
          return { view, outcome: 'failed', error };
        }),
      ),
    );
  }

  named(name: string, sources: readonly ConfiguredSource[] = this.sources): ConfiguredSource {
    return chosenSource(name, sources);
  }

  /** The content a source has now, for a look before it is added. */
  async fetched(address: GitAddress, options: GitOptions): Promise<Snapshot> {
    return this.cache.refresh(address, options);
  }

  async review(before: ReviewedState, after: ReviewedState): Promise<Review> {
    const { reviewChanges } = await import('./review.ts');
    return reviewChanges(before, after);
  }

  async approve(view: SourceView): Promise<void> {
    if (view.pending !== undefined) await this.#pin(view, view.pin, view.pending);
  }

  /** The sources of this process, and those that are pinned for the user and named elsewhere, as by a host. */
  async all(): Promise<ConfiguredSource[]> {
    const { user } = await this.#levels.pins();
    const known = new Set(this.sources.map(({ address }) => address.source));
    const others = Object.keys(user instanceof BmadError ? {} : user)
      .map((source) => (known.has(source) ? undefined : parsedOr(source)))
      .filter((address) => address !== undefined);
    const where = { layer: 'user', from: 'a host or a variable', elsewhere: true } as const;
    return [...this.sources, ...others.map((address) => ({ address, ...where }))];
  }

  /** Every copy that some lock file on this machine may lead to. */
  async kept(): Promise<PinnedCopy[]> {
    const here = (await this.views(await this.all())).flatMap(({ address, served, pending }) =>
      [served, pending].filter((copy) => copy !== undefined).map(({ commit }) => ({ address, commit })),
    );
    const pinned = await mapLimited(await this.#consents.locks(), AT_ONCE, pinnedCopies);
    return [...here, ...pinned.flat()];
  }

  /** Names a source in the configuration of a level and pins it, unless that level has a pin for it already. */
  async add(address: GitAddress, level: 'project' | 'user', found: Snapshot): Promise<SourceView> {
    const { config, inside } = this.#levels.files(level);
    const source: ConfiguredSource = { address, layer: level, from: config };
    await this.#levels.checkLock(level);
    await this.#levels.whileAlone(config, () => addToConfig(config, address.source, inside));
    await this.#levels.pinFirst(source, await this.#pinOf(source, found));
    await this.#allow(source);
    return this.#view(source);
  }

  /**
   * Takes a source out of the configuration and the lock file of its level; answers with the configuration file, unless
   * only the lock file named it.
   */
  async remove({ address, layer, from }: ConfiguredSource): Promise<string | undefined> {
    if (layer === 'flag' || layer === 'environment')
      throw new BmadError(
        'invalid_input',
        `${address.source} is not in a configuration file: it comes from ${from}.`,
        { subject: address.source, hint: 'Remove it there.' },
      );
    const { config, inside } = this.#levels.files(layer);
    // Both files or neither: a damaged lock file is found before the other is changed.
    await this.#levels.checkLock(layer);
    await this.#levels.whileAlone(config, () =>
      removeFromConfig(config, (entry) => parsedOr(entry)?.source === address.source, inside),
    );
    await this.#levels.unpin({ address, layer });
    return this.sources.some((known) => known.address.source === address.source) ? config : undefined;
  }

  lockFile(layer: SourceLayer): string {
    return this.#levels.lockFile(layer);
  }

  async #updateOne(
    source: ConfiguredSource,
    { approve = false, background = false }: UpdateOptions,
    options: GitOptions,
  ): Promise<UpdateResult> {
    const { address } = source;
    if (!background) await this.#allow(source);
    const before = await this.#view(source);
    const { pin } = before;
    if (pin === undefined) {
      await this.#bring(before, options);
      return { view: await this.#view(source), outcome: 'pinned' };
    }
    // The approved content comes first: pending content can only be compared with something on this machine.
    if (before.served === undefined) await this.#obtain(before, pin, options).catch(unlessStopped(options));
    const found = await this.cache.refresh(address, options);
    if (found.commit === pin.commit && found.digest === pin.digest)
      return { view: await this.#view(source), outcome: 'unchanged' };
    // The same commit cannot have different content: the lock file is wrong or was tampered with.
    if (found.commit === pin.commit && !approve)
      throw new BmadError('unavailable', otherContent(address.source, pin), {
        subject: address.source,
        hint: 'The lock file may be wrong.',
        steps: [updateStep({ source: address.source, approve: true }, 'Pin the current content')],
      });
    // A file that a team shares changes when a person says so.
    const mayPin = !(background && source.layer === 'project');
    if (found.digest === pin.digest) {
      if (mayPin) await this.#pin(source, pin, found);
      return { view: await this.#view(source), outcome: 'unchanged', before: pin.commit };
    }
    const relation = await this.cache.relate(address, pin, options);
    const automatic = this.#approval === 'auto' && relation === 'continued' && mayPin;
    if (approve || automatic) await this.#pin(source, pin, found);
    const outcome = approve || automatic ? 'approved' : 'pending';
    return { view: { ...(await this.#view(source)), relation }, outcome, before: pin.commit };
  }

  async #bring(view: SourceView, options: GitOptions): Promise<void> {
    await this.#levels.checkLock(view.layer);
    if (view.pin !== undefined) await this.#obtain(view, view.pin, options);
    else {
      const found = await this.cache.refresh(view.address, options);
      await this.#levels.pinFirst(view, await this.#pinOf(view, found));
    }
  }

  async #pin(source: ConfiguredSource, before: Pin | undefined, found: Snapshot): Promise<void> {
    await this.#levels.pin(source, before, await this.#pinOf(source, found));
  }

  async #pinOf({ address }: ConfiguredSource, { commit, digest }: Snapshot): Promise<Pin> {
    const kind = (await this.cache.sighting(address))?.kind;
    return { commit, digest, ...(kind === undefined ? {} : { kind }) };
  }

  async #allow({ address, layer }: ConfiguredSource): Promise<void> {
    if (layer === 'project' && this.#projectLock !== undefined)
      await this.#consents.give({ lock: this.#projectLock, source: address.source });
  }

  async #allowed({ address, layer }: ConfiguredSource): Promise<boolean> {
    if (layer !== 'project') return true;
    const lock = this.#projectLock;
    return lock !== undefined && this.#consents.has({ lock, source: address.source });
  }

  async #obtain({ address }: SourceView, pin: Pin, options: GitOptions): Promise<void> {
    const gone = ours((error): never => {
      throw new BmadError(
        'not_found',
        `${address.source}: the approved commit ${pin.commit.slice(0, 12)} is not at the remote: its history was rewritten, or the lock file is wrong (${error.message})`,
        {
          subject: address.source,
          steps: [
            updateStep({ source: address.source }, 'Fetch the current content'),
            { operation: 'sources_diff', args: { source: address.source }, why: 'Then compare' },
          ],
          cause: error,
        },
      );
    }, 'not_found');
    const found = await this.cache.obtain(address, pin.commit, options).catch(gone);
    if (found.digest !== pin.digest)
      throw new BmadError('unavailable', otherContent(address.source, pin), { subject: address.source });
  }

  async #view(source: ConfiguredSource): Promise<SourceView> {
    return viewSource(source, await this.#levels.pins(), this.cache, await this.#allowed(source));
  }
}

/** Problems with the approved commit must not prevent anyone from seeing the current content. */
function unlessStopped({ signal }: GitOptions): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof BmadError) || signal?.aborted === true) throw error;
  };
}
