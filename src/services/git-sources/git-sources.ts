import { Kept, t } from '../../base/text/message.ts';
import { mapLimited } from '../../base/async.ts';
import { BmadError, ours } from '../../base/errors.ts';
import type { DecidedBy, Decision, Decisions } from '../../model/memory.ts';
import { chosenSource, type ConfiguredSource, type SourceLayer } from './configured.ts';
import { type LevelParts, Levels, parsedOr, type Pin } from './lock-files.ts';
import type { Review, ReviewedState } from './review.ts';
import { otherContent, sameContent, type SourceView, updateStep, viewSource } from './view.ts';
import { parseGitAddress, type GitAddress } from '../../sources/git/address.ts';
import type { GitCache, Snapshot } from '../../sources/git/cache.ts';
import type { GitOptions } from '../../sources/git/git.ts';

export { lockInReach } from './lock-files.ts';

export interface GitSourcesParts extends LevelParts {
  decisions: AgreedBook;
  sources: readonly ConfiguredSource[];
  /** What was wrong with the names of others. */
  warnings: readonly string[];
  cache: GitCache;
  /** Whether changes of a source wait for a person; a moved tag and a rewritten history always do. */
  approval: 'ask' | 'auto';
}

interface UpdateOptions {
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
  readonly warnings: readonly string[];
  readonly cache: GitCache;
  readonly #approval: GitSourcesParts['approval'];
  readonly #levels: Levels;
  readonly #agreed: AgreedSources;
  readonly parsed = parseGitAddress;

  constructor(parts: GitSourcesParts) {
    this.sources = parts.sources;
    this.warnings = parts.warnings;
    this.cache = parts.cache;
    this.#approval = parts.approval;
    this.#levels = new Levels(parts);
    this.#agreed = new AgreedSources(parts.decisions, parts.project?.inside);
  }

  /** The current state of all sources. Only reads the disk. */
  async views(sources: readonly ConfiguredSource[] = this.sources): Promise<SourceView[]> {
    const pins = await this.#levels.pins();
    return mapLimited(sources, AT_ONCE, async (source) =>
      viewSource(source, pins, this.cache, await this.#agreed.to(source)),
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

  /** A person serves what waits. What the project's lock file names already needs no other line there. */
  async approve(view: SourceView, by: string, via: DecidedBy): Promise<void> {
    const { pending, locked } = view;
    if (pending === undefined) return;
    if (!sameContent(pending, locked)) await this.#pin(view, locked, pending);
    await this.#agreed.agree(view, pending, by, via);
  }

  /** The sources of this process, and those that are pinned for the user and named elsewhere, as by a host. */
  async all(): Promise<ConfiguredSource[]> {
    const { user } = await this.#levels.pins();
    const known = new Set(this.sources.map(({ address }) => address.source));
    const others = Object.keys(user instanceof BmadError ? {} : user)
      .map((source) => (known.has(source) ? undefined : parsedOr(source)))
      .filter((address) => address !== undefined);
    const where = { layer: 'user', from: new Kept(() => t`a host or a variable`), elsewhere: true } as const;
    return [...this.sources, ...others.map((address) => ({ address, ...where }))];
  }

  /** Every copy that is served somewhere on this machine, or waits to be. */
  async kept(): Promise<SourceCopy[]> {
    const here = (await this.views(await this.all())).flatMap(({ address, served, pending }) =>
      [served, pending].filter((copy) => copy !== undefined).map(({ commit }) => ({ address, commit })),
    );
    return [...here, ...(await this.#agreed.everywhere())];
  }

  /** Names a source in the configuration of a level and pins it, unless that level has a pin for it already. */
  async add(address: GitAddress, level: 'project' | 'user', found: Snapshot): Promise<SourceView> {
    const { config } = this.#levels.files(level);
    const source: ConfiguredSource = { address, layer: level, from: config };
    await this.#levels.checkLock(level);
    await this.#levels.changeList(level, (list) => [...new Set([...list, address.source])]);
    await this.#levels.pinFirst(source, await this.#pinOf(source, found));
    const { locked } = await this.#view(source);
    if (locked !== undefined) await this.#agreed.agree(source, locked, 'sources_add', 'flag');
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
        t`${address.source} is not in a configuration file: it comes from ${from}.`,
        { subject: address.source, hint: t`Remove it there.` },
      );
    const { config } = this.#levels.files(layer);
    // Both files or neither: a damaged lock file is found before the other is changed.
    await this.#levels.checkLock(layer);
    const isOther = (entry: string): boolean => parsedOr(entry)?.source !== address.source;
    await this.#levels.changeList(layer, (list) => list.filter(isOther));
    await this.#levels.unpin({ address, layer });
    return this.sources.some((known) => known.address.source === address.source) ? config : undefined;
  }

  /** Changes when a person decides about a source of the project, in this process or another. */
  decidedAt(): Promise<string> {
    return this.#agreed.at();
  }

  lockFile(layer: SourceLayer): string {
    return this.#levels.lockFile(layer);
  }

  async #updateOne(
    source: ConfiguredSource,
    { background = false }: UpdateOptions,
    options: GitOptions,
  ): Promise<UpdateResult> {
    const { address } = source;
    const before = await this.#view(source);
    const { locked } = before;
    if (locked === undefined) {
      await this.#bring(before, options);
      return { view: await this.#view(source), outcome: 'pinned' };
    }
    // A person who fetches a project's source for the first time agrees to what its lock file names, as with an installer.
    const isFirst = before.pin === undefined && !background;
    if (isFirst) await this.#agreed.agree(source, locked, 'sources_update', 'flag');
    // The approved content comes first: pending content can only be compared with something on this machine.
    const approved = before.pin ?? locked;
    if (before.served === undefined)
      await this.#obtain(before, approved, options).catch(unlessStopped(options));
    if (!sameContent(approved, locked)) {
      await this.#obtain(before, locked, options);
      return { view: await this.#view(source), outcome: 'pending', before: approved.commit };
    }
    const found = await this.cache.refresh(address, options);
    if (found.commit === locked.commit && found.digest === locked.digest)
      return { view: await this.#view(source), outcome: 'unchanged' };
    // The same commit cannot have different content: the lock file is wrong or was tampered with.
    if (found.commit === locked.commit)
      throw new BmadError('unavailable', otherContent(address.source, locked), {
        subject: address.source,
        hint: t`The lock file may be wrong. Restore it from version control, or remove the source and add it again.`,
      });
    // A file that a team shares changes when a person says so.
    const mayPin = !(background && source.layer === 'project');
    if (sameContent(found, locked)) {
      if (mayPin) await this.#pin(source, locked, found);
      return { view: await this.#view(source), outcome: 'unchanged', before: locked.commit };
    }
    const relation = await this.cache.relate(address, locked, options);
    const automatic = this.#approval === 'auto' && relation === 'continued' && mayPin;
    if (automatic) {
      await this.#pin(source, locked, found);
      await this.#agreed.agree(source, found, 'git_approval', 'flag');
    }
    const outcome = automatic ? 'approved' : 'pending';
    return { view: { ...(await this.#view(source)), relation }, outcome, before: locked.commit };
  }

  async #bring(view: SourceView, options: GitOptions): Promise<void> {
    await this.#levels.checkLock(view.layer);
    if (view.pin !== undefined) return this.#obtain(view, view.pin, options);
    // A lock file that has lost its line takes nothing back: what a person here has agreed to is put there again.
    const agreed = await this.#agreed.to(view);
    if (agreed !== undefined && agreed !== 'locked') {
      await this.#obtain(view, agreed, options);
      return this.#levels.pinFirst(view, agreed);
    }
    const found = await this.cache.refresh(view.address, options);
    await this.#levels.pinFirst(view, await this.#pinOf(view, found));
    const { locked } = await this.#view(view);
    if (locked !== undefined && view.layer === 'project')
      await this.#agreed.agree(view, locked, 'sources_update', 'flag');
  }

  async #pin(source: ConfiguredSource, before: Pin | undefined, found: Snapshot): Promise<void> {
    await this.#levels.pin(source, before, await this.#pinOf(source, found));
  }

  async #pinOf({ address }: ConfiguredSource, { commit, digest }: Snapshot): Promise<Pin> {
    const kind = (await this.cache.sighting(address))?.kind;
    return { commit, digest, ...(kind === undefined ? {} : { kind }) };
  }

  async #obtain({ address }: SourceView, pin: Pin, options: GitOptions): Promise<void> {
    const gone = ours((error): never => {
      throw new BmadError(
        'not_found',
        t`${address.source}: the approved commit ${pin.commit.slice(0, 12)} is not at the remote: its history was rewritten, or the lock file is wrong (${error.message})`,
        {
          subject: address.source,
          steps: [
            updateStep({ source: address.source }, t`Fetch the current content`),
            { operation: 'sources_diff', args: { source: address.source }, why: t`Then compare` },
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
    return viewSource(source, await this.#levels.pins(), this.cache, await this.#agreed.to(source));
  }
}

/** Problems with the approved commit must not prevent anyone from seeing the current content. */
function unlessStopped({ signal }: GitOptions): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof BmadError) || signal?.aborted === true) throw error;
  };
}

/** What people on this machine have decided, by project. */
interface AgreedBook {
  of(root: string): Decisions;
  projects(): Promise<string[]>;
}

export interface SourceCopy {
  address: GitAddress;
  commit: string;
}

/**
 * Which version of a source a person on this machine has agreed to. A project's lock file is written by others too, so it
 * says what the team has, and this says what is served here. Being in the cache for another reason is not consent.
 */
class AgreedSources {
  readonly #book: AgreedBook;
  readonly #here: Decisions | undefined;

  constructor(book: AgreedBook, root: string | undefined) {
    this.#book = book;
    this.#here = root === undefined ? undefined : book.of(root);
  }

  /** The user's own lock file says it for what the user lists. */
  async to({ layer, address }: ConfiguredSource): Promise<Pin | 'locked' | undefined> {
    if (layer !== 'project') return 'locked';
    const decided = await this.#here?.last('source', address.source);
    const commit = decided?.parts?.['commit'];
    return decided?.yes !== true || commit === undefined ? undefined : { commit, digest: decided.digest };
  }

  async agree({ layer, address }: ConfiguredSource, pin: Pin, by: string, via: DecidedBy): Promise<void> {
    if (layer !== 'project') return;
    const about = { kind: 'source', id: address.source, digest: pin.digest } as const;
    await this.#here?.decide({ ...about, yes: true, by, via, parts: { commit: pin.commit } });
  }

  /** Changes with each decision about a source of the project, in this process or another. */
  async at(): Promise<string> {
    const decided = [...((await this.#here?.all('source')) ?? new Map<string, Decision>()).values()];
    return decided.map(({ id, at }) => `${id} ${at}`).join(' ');
  }

  /** The versions that are served in any project. */
  async everywhere(): Promise<SourceCopy[]> {
    const decided = await mapLimited(await this.#book.projects(), AT_ONCE, async (root) => [
      ...(await this.#book.of(root).all('source')).values(),
    ]);
    return decided.flat().flatMap(({ id, parts }) => {
      const [address, commit] = [parsedOr(id), parts?.['commit']];
      return address === undefined || commit === undefined ? [] : [{ address, commit }];
    });
  }
}
