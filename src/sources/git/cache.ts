import { join } from 'node:path';
import { BmadError } from '../../base/errors.ts';
import { withLock } from '../../base/file-lock.ts';
import {
  discardFolder,
  ensureFolder,
  modifiedAt,
  newWorkFolder,
  publishFolder,
  readState,
  removeTree,
  writeAtomic,
} from '../../base/file-state.ts';
import type { GitAddress } from './address.ts';
import { createGit, type GitOptions, type GitSetup } from './git.ts';
import { lookAtRemote, type RemoteRef } from './remote.ts';
import { continues, fetchRef, type RepositoryPlace } from './repository.ts';
import {
  clearCopies,
  contentName,
  listCopies,
  readJson,
  sweepWork,
  treeKey,
  type CacheEntry,
  type KeptCopy,
  type Receipt,
} from './copies.ts';
import { writeSnapshot, type Written } from './snapshot.ts';

/** The files of one commit, on disk and complete. */
export interface Snapshot extends Written {
  commit: string;
  /** The folder with the content. */
  folder: string;
  /** When it was fetched, in milliseconds. */
  fetchedAt: number;
}

/** What was seen at the remote of a source when somebody last looked. */
export interface Sighting {
  source: string;
  kind?: RemoteRef['kind'];
  /** Nothing when no look has succeeded yet. */
  commit?: string;
  /** When a look last succeeded. */
  checkedAt?: number;
  /** Why the latest look failed, if it did, and when. */
  trouble?: string;
  troubleAt?: number;
  /** How what was seen relates to an earlier commit, where that has been found out. */
  relation?: { to: string; how: Relation };
}

/** What became of a ref since an earlier commit: more on top of it, its history rewritten, or its tag moved. */
export type Relation = 'continued' | 'rewritten' | 'moved tag' | 'unknown';

export interface CacheSetup extends GitSetup {
  /** The folder it keeps everything in. */
  folder: string;
  now(): number;
}

/** How many times the limit of one call of git a process may wait for another that fetches the same repository. */
const PATIENCE = 3;

/**
 * Everything that was fetched from git. Objects are shared by the refs of a repository (`repositories`); each commit that
 * was ever wanted lies ready as plain files (`trees`) and never changes again; `sightings` remembers what the remotes
 * had. All of it is written aside and put in place by renaming.
 */
export class GitCache {
  readonly #setup: CacheSetup;
  readonly #git: ReturnType<typeof createGit>;

  constructor(setup: CacheSetup) {
    this.#setup = setup;
    this.#git = createGit(setup);
  }

  /** A commit of a source, if it is here. */
  async snapshot(address: GitAddress, commit: string): Promise<Snapshot | undefined> {
    const place = this.#treePlace(address, commit);
    const receipt = await readJson<Omit<Snapshot, 'folder'>>(join(place, 'receipt.json'));
    return receipt === undefined ? undefined : { ...receipt, folder: join(place, contentName(address)) };
  }

  async sighting(address: GitAddress): Promise<Sighting | undefined> {
    return readJson<Sighting>(this.#sightingFile(address));
  }

  /** Changes whenever anything was seen or fetched, by any process. */
  async stamp(): Promise<number> {
    return (await modifiedAt(join(this.#setup.folder, 'sightings'))) ?? 0;
  }

  /** Asks the remote, fetches what is new, and remembers both. One process does it; others wait for its result. */
  async refresh(address: GitAddress, options: GitOptions = {}): Promise<Snapshot> {
    const since = this.#setup.now();
    return this.#locked(address, options, async () => {
      const seen = await this.sighting(address);
      // Whoever waited for the lock gets what the other process has just brought.
      if (seen?.commit !== undefined && (seen.checkedAt ?? 0) > since) {
        const ready = await this.snapshot(address, seen.commit);
        if (ready !== undefined) return ready;
      }
      try {
        options.progress?.(`asking ${address.url}`);
        const ref = await lookAtRemote(this.#git, address, options);
        const snapshot = await this.#bring(address, ref, options);
        const { commit } = snapshot;
        await this.#remember(address, { kind: ref.kind, commit, checkedAt: this.#setup.now() });
        return snapshot;
      } catch (error) {
        if (error instanceof BmadError && options.signal?.aborted !== true)
          await this.#noteTrouble(address, error);
        throw error;
      }
    });
  }

  /** Exactly this commit, from the disk or from the remote. */
  async obtain(address: GitAddress, commit: string, options: GitOptions = {}): Promise<Snapshot> {
    const ready = await this.snapshot(address, commit);
    if (ready !== undefined) return ready;
    return this.#locked(
      address,
      options,
      async () =>
        (await this.snapshot(address, commit)) ??
        (await this.#bring(address, { kind: 'commit', commit }, options)),
    );
  }

  /** Finds out what became of a ref since `older`, from what was seen last, and remembers it. */
  async relate(address: GitAddress, older: string, options: GitOptions = {}): Promise<Relation> {
    return this.#locked(address, options, async () => {
      const seen = await this.sighting(address);
      if (seen?.commit === undefined) return 'unknown';
      if (seen.relation?.to === older) return seen.relation.how;
      const place = this.#repositoryPlace(address);
      const how: Relation =
        seen.kind === 'tag'
          ? 'moved tag'
          : (RELATIONS[String(await continues(this.#git, place, address, older, seen.commit, options))] ??
            'unknown');
      await this.#remember(address, { ...seen, relation: { to: older, how } });
      return how;
    });
  }

  /** Every commit that is kept. */
  async list(): Promise<CacheEntry[]> {
    return listCopies(this.#setup.folder);
  }

  /** Removes everything, or only what no entry of `keep` holds on to. */
  async clear(keep: readonly KeptCopy[] = []): Promise<{ copies: number; bytes: number }> {
    return clearCopies(this.#setup.folder, keep);
  }

  async #bring(address: GitAddress, ref: RemoteRef, options: GitOptions): Promise<Snapshot> {
    const known = ref.commit === undefined ? undefined : await this.snapshot(address, ref.commit);
    if (known !== undefined) return known;
    options.progress?.(`fetching ${address.source}`);
    const place = this.#repositoryPlace(address);
    const commit = await fetchRef(this.#git, place, address, ref, options);
    return (await this.snapshot(address, commit)) ?? (await this.#write(address, commit, options));
  }

  async #write(address: GitAddress, commit: string, options: GitOptions): Promise<Snapshot> {
    const { folder: repository, work } = this.#repositoryPlace(address);
    const draft = await newWorkFolder(work);
    try {
      const content = contentName(address);
      const written = await writeSnapshot(
        this.#git,
        repository,
        address,
        commit,
        join(draft, content),
        options,
      );
      const receipt: Receipt = {
        source: address.source,
        content,
        commit,
        fetchedAt: this.#setup.now(),
        ...written,
      };
      await writeAtomic(join(draft, 'receipt.json'), `${JSON.stringify(receipt, null, 2)}\n`);
      const place = this.#treePlace(address, commit);
      if ((await readState(join(place, 'receipt.json'))) === undefined) await discardFolder(place, work);
      await publishFolder(draft, place);
      return { commit, folder: join(place, content), fetchedAt: receipt.fetchedAt, ...written };
    } finally {
      await removeTree(draft);
    }
  }

  async #remember(address: GitAddress, seen: Omit<Sighting, 'source'>): Promise<void> {
    const sighting: Sighting = { ...seen, source: address.source };
    await writeAtomic(this.#sightingFile(address), `${JSON.stringify(sighting, null, 2)}\n`);
  }

  /** Why a remote could not be asked; what was known before stays. A disk that takes nothing is trouble enough. */
  async #noteTrouble(address: GitAddress, { line }: BmadError): Promise<void> {
    const seen = await this.sighting(address);
    await this.#remember(address, { ...seen, trouble: line, troubleAt: this.#setup.now() }).catch(
      () => undefined,
    );
  }

  async #locked<T>(address: GitAddress, options: GitOptions, action: () => Promise<T>): Promise<T> {
    const { folder, timeoutMs } = this.#setup;
    await ensureFolder(join(folder, 'work'));
    return withLock(
      join(folder, 'locks', `${address.repositoryKey}.lock`),
      {
        signal: options.signal,
        waitMs: timeoutMs * PATIENCE,
        onWait: () => options.progress?.(`waiting for another process that fetches ${address.url}`),
      },
      async () => {
        await sweepWork(folder);
        return action();
      },
    );
  }

  #repositoryPlace({ repositoryKey }: GitAddress): RepositoryPlace {
    const { folder } = this.#setup;
    return { folder: join(folder, 'repositories', `${repositoryKey}.git`), work: join(folder, 'work') };
  }

  #treePlace(address: GitAddress, commit: string): string {
    return join(this.#setup.folder, 'trees', treeKey(address, commit));
  }

  #sightingFile({ sourceKey }: GitAddress): string {
    return join(this.#setup.folder, 'sightings', `${sourceKey}.json`);
  }
}

const RELATIONS: Record<string, Relation> = { true: 'continued', false: 'rewritten' };
