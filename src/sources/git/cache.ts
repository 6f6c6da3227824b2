import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { BmadError } from '../../base/errors.ts';
import { isRunning, withLock } from '../../base/file-lock.ts';
import {
  discardFolder,
  ensureFolder,
  folderBytes,
  modifiedAt,
  newWorkFolder,
  publishFolder,
  readState,
  removeTree,
  stateNames,
  writeAtomic,
} from '../../base/file-state.ts';
import type { GitAddress } from './address.ts';
import { createGit, type GitOptions, type GitSetup } from './git.ts';
import { lookAtRemote, type RemoteRef } from './remote.ts';
import { continues, fetchRef, type RepositoryPlace } from './repository.ts';
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
  kind: RemoteRef['kind'];
  commit: string;
  checkedAt: number;
  /** Why the latest look failed, if it did. */
  trouble?: string;
}

export interface CacheEntry {
  source: string;
  commit: string;
  digest: string;
  files: number;
  bytes: number;
  folder: string;
  fetchedAt: number;
  /** When the remote was last asked. */
  checkedAt: number | undefined;
}

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
    const text = await readState(join(place, 'receipt.json'));
    if (text === undefined) return undefined;
    try {
      return { ...(JSON.parse(text) as Omit<Snapshot, 'folder'>), folder: join(place, contentName(address)) };
    } catch {
      // Not ours, or damaged: as good as absent, and made again when it is needed.
      return undefined;
    }
  }

  async sighting(address: GitAddress): Promise<Sighting | undefined> {
    const text = await readState(this.#sightingFile(address));
    try {
      return text === undefined ? undefined : (JSON.parse(text) as Sighting);
    } catch {
      return undefined;
    }
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
      if (seen !== undefined && seen.trouble === undefined && seen.checkedAt > since) {
        const ready = await this.snapshot(address, seen.commit);
        if (ready !== undefined) return ready;
      }
      try {
        options.progress?.(`asking ${address.url}`);
        const ref = await lookAtRemote(this.#git, address, options);
        const snapshot = await this.#bring(address, ref, options);
        await this.#remember(address, { kind: ref.kind, commit: snapshot.commit });
        return snapshot;
      } catch (error) {
        if (error instanceof BmadError && options.signal?.aborted !== true && seen !== undefined)
          await this.#remember(address, { ...seen, trouble: error.message }, seen.checkedAt);
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
        (await this.snapshot(address, commit)) ?? (await this.#bring(address, { kind: 'commit', commit }, options)),
    );
  }

  /** Whether one commit of a source continues another. */
  async continues(address: GitAddress, older: string, newer: string, options: GitOptions = {}): Promise<boolean | undefined> {
    return this.#locked(address, options, () =>
      continues(this.#git, this.#repositoryPlace(address), address, older, newer, options),
    );
  }

  async list(): Promise<CacheEntry[]> {
    const entries: CacheEntry[] = [];
    const trees = join(this.#setup.folder, 'trees');
    const checked = await this.#checkTimes();
    for (const name of await stateNames(trees)) {
      const text = await readState(join(trees, name, 'receipt.json'));
      if (text === undefined) continue;
      try {
        const { source, content, commit, digest, files, bytes, fetchedAt } = JSON.parse(text) as Receipt;
        const folder = join(trees, name, content);
        entries.push({ source, commit, digest, files, bytes, folder, fetchedAt, checkedAt: checked.get(source) });
      } catch {
        // A folder that is not ours is not listed.
      }
    }
    return entries.sort((a, b) => (a.source === b.source ? b.fetchedAt - a.fetchedAt : a.source < b.source ? -1 : 1));
  }

  /** Removes everything, or only what no entry of `keep` holds on to. */
  async clear(keep: readonly { address: GitAddress; commit: string }[] = []): Promise<{ copies: number; bytes: number }> {
    const { folder } = this.#setup;
    const work = join(folder, 'work');
    const trees = new Set(keep.map(({ address, commit }) => treeKey(address, commit)));
    const repositories = new Set(keep.map(({ address }) => `${address.repositoryKey}.git`));
    const sightings = new Set(keep.map(({ address }) => `${address.sourceKey}.json`));
    let copies = 0;
    let bytes = 0;
    for (const [part, kept] of [
      ['trees', trees],
      ['repositories', repositories],
      ['sightings', sightings],
    ] as const) {
      for (const name of await stateNames(join(folder, part))) {
        if (kept.has(name)) continue;
        const place = join(folder, part, name);
        bytes += await folderBytes(place);
        if (part === 'trees') copies += 1;
        await discardFolder(place, work);
      }
    }
    return { copies, bytes };
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
      const written = await writeSnapshot(this.#git, repository, address, commit, join(draft, content), options);
      const receipt: Receipt = { source: address.source, content, commit, fetchedAt: this.#setup.now(), ...written };
      await writeAtomic(join(draft, 'receipt.json'), `${JSON.stringify(receipt, null, 2)}\n`);
      const place = this.#treePlace(address, commit);
      if ((await readState(join(place, 'receipt.json'))) === undefined) await discardFolder(place, work);
      await publishFolder(draft, place);
      return { commit, folder: join(place, content), fetchedAt: receipt.fetchedAt, ...written };
    } finally {
      await removeTree(draft);
    }
  }

  async #remember(
    address: GitAddress,
    seen: Pick<Sighting, 'kind' | 'commit' | 'trouble'>,
    checkedAt = this.#setup.now(),
  ): Promise<void> {
    const sighting: Sighting = { source: address.source, kind: seen.kind, commit: seen.commit, checkedAt };
    if (seen.trouble !== undefined) sighting.trouble = seen.trouble;
    await writeAtomic(this.#sightingFile(address), `${JSON.stringify(sighting, null, 2)}\n`);
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
        await this.#sweep();
        return action();
      },
    );
  }

  /** Removes what processes that no longer run have left unfinished. */
  async #sweep(): Promise<void> {
    const work = join(this.#setup.folder, 'work');
    for (const name of await stateNames(work)) {
      const pid = Number(/^(\d+)-/.exec(name)?.[1]);
      if (Number.isNaN(pid) || !isRunning(pid)) await removeTree(join(work, name)).catch(() => undefined);
    }
  }

  async #checkTimes(): Promise<Map<string, number>> {
    const folder = join(this.#setup.folder, 'sightings');
    const times = new Map<string, number>();
    for (const name of await stateNames(folder)) {
      try {
        const { source, checkedAt } = JSON.parse((await readState(join(folder, name))) ?? '{}') as Sighting;
        times.set(source, checkedAt);
      } catch {
        // A file that is being replaced or is not ours says nothing.
      }
    }
    return times;
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

interface Receipt extends Written {
  source: string;
  /** Name of the folder with the content, beside the receipt. */
  content: string;
  commit: string;
  fetchedAt: number;
}

/** Two refs that lead to one commit share its files; another subpath has others. */
function treeKey({ repositoryKey, subpath }: GitAddress, commit: string): string {
  return createHash('sha256').update(`${repositoryKey}\0${commit}\0${subpath ?? ''}`).digest('hex').slice(0, 32);
}

/** Readers take a folder's name for the name of a plain module, so it is that of the repository or subpath. */
function contentName({ name }: GitAddress): string {
  const plain = name.replace(/[^\w.-]+/g, '-').replace(/^[-.]+/, '');
  return plain === '' ? 'content' : plain;
}
