import { t } from '../../base/text/message.ts';
import { join } from 'node:path';
import { BmadError } from '../../base/errors.ts';
import { withLock } from '../../base/files/file-lock.ts';
import {
  discardFolder,
  folderBytes,
  newWorkFolder,
  publishFolder,
  removeTree,
  sweepWork,
  writeAtomic,
  readState,
  stateNames,
} from '../../base/files/file-state.ts';
import { ensureFolder } from '../../base/files/file-modes.ts';
import type { GitAddress } from './address.ts';
import { createGit, type GitOptions, type GitSetup } from './git.ts';
import { continues, fetchRef, lookAtRemote, type RemoteRef, type RepositoryPlace } from './repository.ts';
import { writeSnapshot, type Written } from './snapshot.ts';
import { jsonIn } from '../../base/parse/json.ts';
import { sha256 } from '../../base/values.ts';

/** The files of one commit, on disk and complete. */
export interface Snapshot extends Written {
  commit: string;
  /** The folder with the content. */
  folder: string;
  /** When it was fetched, in milliseconds. */
  fetchedAt: number;
}

/** What the remote of a source had at the last check. */
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

interface CacheSetup extends Omit<GitSetup, 'workFolder'> {
  /** The folder it keeps everything in. */
  folder: string;
  now(): number;
}

/** How long `clear` waits for a process that fetches. */
const CLEAR_WAIT_MS = 10_000;

/** How many times the limit of one call of git a process may wait for another that fetches the same repository. */
const PATIENCE = 3;

/**
 * Everything that was fetched from git. The refs of a repository share their objects (`repositories`); each commit that
 * was ever requested is kept as plain files (`trees`) and never changes; `sightings` records what the remotes had. All
 * of it is written to a temporary place and renamed.
 */
export class GitCache {
  readonly #setup: CacheSetup;
  readonly #git: ReturnType<typeof createGit>;
  /** Copies that were found complete by this process. */
  readonly #whole = new Set<string>();

  constructor(setup: CacheSetup) {
    this.#setup = setup;
    this.#git = createGit({ ...setup, workFolder: join(setup.folder, 'work') });
  }

  /** A commit of a source, if it is on this machine. */
  async snapshot(address: GitAddress, commit: string): Promise<Snapshot | undefined> {
    const place = this.#treePlace(address, commit);
    const receipt = await readJson<Receipt>(join(place, 'receipt.json'));
    if (receipt === undefined || !isReceipt(receipt, commit)) return undefined;
    const folder = join(place, contentName(address));
    // Checked one time: after a power failure or a cleanup there may be less than was written.
    if (!this.#whole.has(place)) {
      if ((await folderBytes(folder)) !== receipt.bytes) return undefined;
      this.#whole.add(place);
    }
    const { digest, files, bytes, skipped, fetchedAt } = receipt;
    return { commit, digest, files, bytes, skipped, fetchedAt, folder };
  }

  async sighting(address: GitAddress): Promise<Sighting | undefined> {
    return readJson<Sighting>(this.#sightingFile(address));
  }

  /** Asks the remote, fetches what is new, and remembers both. One process does it; others wait for its result. */
  async refresh(address: GitAddress, options: GitOptions = {}): Promise<Snapshot> {
    const since = this.#setup.now();
    return this.#locked(address, options, async () => {
      const seen = await this.sighting(address);
      // A process that waited for the lock uses what the other process has just fetched.
      if (seen?.commit !== undefined && (seen.checkedAt ?? 0) > since) {
        const ready = await this.snapshot(address, seen.commit);
        if (ready !== undefined) return ready;
      }
      try {
        options.progress?.(t`asking ${address.url}`);
        const ref = await lookAtRemote(this.#git, address, options);
        const snapshot = await this.#bring(address, ref, options);
        const { commit } = snapshot;
        const checkedAt = this.#setup.now();
        await this.#remember(address, { kind: ref.kind, commit, checkedAt });
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

  /** Finds out what became of a ref since an earlier state, from what was seen last, and remembers it. */
  async relate(
    address: GitAddress,
    older: { commit: string; kind?: string },
    options: GitOptions = {},
  ): Promise<Relation> {
    return this.#locked(address, options, async () => {
      const seen = await this.sighting(address);
      if (seen?.commit === undefined) return 'unknown';
      if (seen.relation?.to === older.commit) return seen.relation.how;
      const how = await this.#relation(address, older, seen, seen.commit, options);
      await this.#remember(address, { ...seen, relation: { to: older.commit, how } });
      return how;
    });
  }

  async #relation(
    address: GitAddress,
    older: { commit: string; kind?: string },
    { kind }: Sighting,
    newer: string,
    options: GitOptions,
  ): Promise<Relation> {
    if (kind === 'tag' || older.kind === 'tag') return 'moved tag';
    // What was a branch and is now something else does not continue it.
    if (older.kind !== undefined && kind !== older.kind) return 'unknown';
    const place = this.#repositoryPlace(address);
    const answer = await continues({ git: this.#git, address, options }, place, older.commit, newer);
    return answer === undefined ? 'unknown' : answer ? 'continued' : 'rewritten';
  }

  /** Every commit that is kept. */
  async list(): Promise<CacheEntry[]> {
    return listCopies(this.#setup.folder);
  }

  /** Removes everything, or only what no entry of `keep` holds on to. */
  async clear(keep: readonly KeptCopy[] = []): Promise<{ copies: number; bytes: number }> {
    const { folder } = this.#setup;
    this.#whole.clear();
    return clearCopies(folder, keep, (repositoryKey, action) =>
      withLock(join(folder, 'locks', `${repositoryKey}.lock`), { waitMs: CLEAR_WAIT_MS }, action),
    );
  }

  async #bring(address: GitAddress, ref: RemoteRef, options: GitOptions): Promise<Snapshot> {
    const known = ref.commit === undefined ? undefined : await this.snapshot(address, ref.commit);
    if (known !== undefined) return known;
    options.progress?.(t`fetching ${address.source}`);
    const place = this.#repositoryPlace(address);
    const commit = await fetchRef({ git: this.#git, address, options }, place, ref);
    return (await this.snapshot(address, commit)) ?? (await this.#write(address, commit, options));
  }

  async #write(address: GitAddress, commit: string, options: GitOptions): Promise<Snapshot> {
    const { folder: repository, work } = this.#repositoryPlace(address);
    const draft = await newWorkFolder(work);
    try {
      const content = contentName(address);
      const fetching = { git: this.#git, address, options };
      const written = await writeSnapshot(fetching, repository, commit, join(draft, content));
      const fetchedAt = this.#setup.now();
      const receipt: Receipt = { source: address.source, content, commit, fetchedAt, ...written };
      await writeAtomic(join(draft, 'receipt.json'), `${JSON.stringify(receipt, null, 2)}\n`);
      const place = this.#treePlace(address, commit);
      // Anything in this place was not a valid copy, or we would not be here.
      await discardFolder(place, work);
      await publishFolder(draft, place);
      return { commit, folder: join(place, content), fetchedAt, ...written };
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
        onWait: () => options.progress?.(t`waiting for another fetch from ${address.url}`),
      },
      async (tookOver) => {
        await sweepWork(join(folder, 'work'));
        // A git that outlived its process may still write here; it keeps writing into what is discarded.
        if (tookOver) await discardFolder(this.#repositoryPlace(address).folder, join(folder, 'work'));
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

/** What is known about a copy; it is stored beside the folder with the content. */
interface Receipt extends Written {
  source: string;
  /** Name of the folder with the content. */
  content: string;
  commit: string;
  fetchedAt: number;
}

/** Whether a file says all that a receipt has to say; one that was cut off does not. */
function isReceipt(value: Partial<Receipt> | null, commit: string): boolean {
  const { digest, files, bytes, fetchedAt, skipped } = value ?? {};
  return (
    value?.commit === commit &&
    /^sha256:[0-9a-f]{64}$/.test(digest ?? '') &&
    [files, bytes, fetchedAt].every((count) => typeof count === 'number') &&
    Array.isArray(skipped)
  );
}

interface CacheEntry extends Omit<Receipt, 'content' | 'skipped'> {
  folder: string;
  /** When the remote was last asked. */
  checkedAt: number | undefined;
}

interface KeptCopy {
  address: GitAddress;
  commit: string;
}

/** Two refs that lead to one commit share its files; another subpath has others. */
function treeKey({ repositoryKey, subpath }: GitAddress, commit: string): string {
  return sha256(`${repositoryKey}\0${commit}\0${subpath ?? ''}`).slice(0, 32);
}

/** Readers take a folder's name for the name of a plain module, so it is that of the repository or subpath. */
function contentName({ name }: GitAddress): string {
  const plain = name.replace(/[^\w.-]+/g, '-').replace(/^[-.]+/, '');
  return plain === '' ? 'content' : plain;
}

async function listCopies(cache: string): Promise<CacheEntry[]> {
  const entries: CacheEntry[] = [];
  const trees = join(cache, 'trees');
  const checked = await checkTimes(join(cache, 'sightings'));
  for (const name of await stateNames(trees)) {
    const receipt = await readJson<Receipt>(join(trees, name, 'receipt.json'));
    if (receipt === undefined) continue;
    const { source, content, commit, digest, files, bytes, fetchedAt } = receipt;
    const folder = join(trees, name, content);
    entries.push({ source, commit, digest, files, bytes, folder, fetchedAt, checkedAt: checked.get(source) });
  }
  return entries.sort((a, b) =>
    a.source === b.source ? b.fetchedAt - a.fetchedAt : a.source < b.source ? -1 : 1,
  );
}

async function checkTimes(folder: string): Promise<Map<string, number>> {
  const times = new Map<string, number>();
  for (const name of await stateNames(folder)) {
    const seen = await readJson<{ source: string; checkedAt?: number }>(join(folder, name));
    if (seen?.checkedAt !== undefined) times.set(seen.source, seen.checkedAt);
  }
  return times;
}

/** A file that is missing, unreadable, damaged or not ours counts as absent, and is created again when needed. */
async function readJson<T>(path: string): Promise<T | undefined> {
  return jsonIn((await readState(path).catch(() => undefined)) ?? '') as T | undefined;
}

async function clearCopies(
  cache: string,
  keep: readonly KeptCopy[],
  whileIdle: (repositoryKey: string, action: () => Promise<void>) => Promise<void>,
): Promise<{ copies: number; bytes: number }> {
  const kept = {
    trees: new Set(keep.map(({ address, commit }) => treeKey(address, commit))),
    repositories: new Set(keep.map(({ address }) => `${address.repositoryKey}.git`)),
    sightings: new Set(keep.map(({ address }) => `${address.sourceKey}.json`)),
  };
  const removed = { copies: 0, bytes: 0 };
  for (const [part, names] of Object.entries(kept)) {
    for (const name of await stateNames(join(cache, part))) {
      if (names.has(name)) continue;
      const place = join(cache, part, name);
      removed.bytes += await folderBytes(place);
      if (part === 'trees') removed.copies += 1;
      const discard = (): Promise<void> => discardFolder(place, join(cache, 'work'));
      if (part === 'repositories') await whileIdle(name.replace(/\.git$/, ''), discard);
      else await discard();
    }
  }
  return removed;
}
