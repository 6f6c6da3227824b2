import { join } from 'node:path';
import { BmadError, quoted } from '../../base/errors.ts';
import { pathExists } from '../../base/files/files.ts';
import {
  discardFolder,
  newWorkFolder,
  publishFolder,
  removeTree,
  stateNames,
} from '../../base/files/file-state.ts';
import type { GitAddress } from './address.ts';
import type { Git, GitOptions } from './git.ts';
import type { RemoteRef } from './remote.ts';

/** Where the objects of one repository are kept, for all its refs. Callers hold the repository's lock. */
export interface RepositoryPlace {
  folder: string;
  /** Folder for unfinished work, on the same disk. */
  work: string;
}

/** The bare repository with the objects of the ref in it; answers with the full id of the commit. */
export async function fetchRef(
  git: Git,
  place: RepositoryPlace,
  address: GitAddress,
  ref: RemoteRef,
  options: GitOptions,
): Promise<string> {
  return withRepository(git, place, options, (folder) => fetchInto(git, folder, address, ref, options));
}

/**
 * Works on the existing repository, or on a new one that is moved into place when it is complete. One that turns out to
 * be broken is recreated one time: the copies that are served are elsewhere.
 */
async function withRepository(
  git: Git,
  place: RepositoryPlace,
  options: GitOptions,
  work: (folder: string) => Promise<string>,
): Promise<string> {
  if (await pathExists(place.folder)) {
    await clearLeftovers(place.folder);
    try {
      return await work(place.folder);
    } catch (error) {
      if (!isBroken(error)) throw error;
      await discardFolder(place.folder, place.work);
    }
  }
  const draft = await newWorkFolder(place.work);
  try {
    await git.run(['init', '--quiet', '--bare', '--template=', '--', draft], options);
    const commit = await work(draft);
    await publishFolder(draft, place.folder);
    return commit;
  } finally {
    await removeTree(draft);
  }
}

/** A killed git leaves lock files that would stop the next one, and packs that will never be finished. */
async function clearLeftovers(folder: string): Promise<void> {
  for (const part of ['', 'refs/kept', 'refs/seen/heads', 'refs/seen/tags'])
    for (const name of await stateNames(join(folder, part)))
      if (name.endsWith('.lock') || name.startsWith('shallow_')) await removeTree(join(folder, part, name));
  const packs = join(folder, 'objects', 'pack');
  for (const name of await stateNames(packs))
    if (name.startsWith('tmp_')) await removeTree(join(packs, name));
}

function isBroken(error: unknown): boolean {
  return (
    error instanceof BmadError &&
    /not a git repository|bad object|corrupt|unable to read|missing (?:blob|tree|commit)|shallow file|bad config|invalid index-pack|\.lock/i.test(
      error.message,
    )
  );
}

async function fetchInto(
  git: Git,
  folder: string,
  address: GitAddress,
  ref: RemoteRef,
  options: GitOptions,
): Promise<string> {
  if (ref.fullName !== undefined) {
    await fetch(git, folder, address, ['--depth=1'], [`+${ref.fullName}:${kept(address)}`], options);
    return commitOf(git, folder, kept(address), address, options);
  }
  const wanted = ref.commit ?? address.ref.toLowerCase();
  if (ref.commit !== undefined) {
    const known = await commitOf(git, folder, wanted, address, options).catch(() => undefined);
    if (known !== undefined) return known;
    try {
      await fetch(git, folder, address, ['--depth=1'], [`+${wanted}:${kept(address)}`], options);
      return await commitOf(git, folder, wanted, address, options);
    } catch (error) {
      options.signal?.throwIfAborted();
      if (!(error instanceof BmadError)) throw error;
      // Some hosts hand out a commit only together with a branch or tag that leads to it.
    }
  }
  await fetchEverything(git, folder, address, options);
  return commitOf(git, folder, wanted, address, options);
}

/** A ref of ours for each source: what it leads to need not be sent again for the next one. */
const kept = ({ sourceKey }: GitAddress): string => `refs/kept/${sourceKey}`;

async function fetch(
  git: Git,
  folder: string,
  address: GitAddress,
  flags: readonly string[],
  refs: readonly string[],
  options: GitOptions,
): Promise<void> {
  await git.run(
    [
      '--git-dir',
      folder,
      'fetch',
      '--progress',
      '--no-tags',
      '--no-write-commit-graph',
      '--force',
      ...flags,
      '--',
      address.url,
      ...refs,
    ],
    { ...options, remote: address },
  );
}

async function fetchEverything(
  git: Git,
  folder: string,
  address: GitAddress,
  options: GitOptions,
): Promise<void> {
  const shallow = await pathExists(join(folder, 'shallow'));
  await fetch(
    git,
    folder,
    address,
    shallow ? ['--unshallow'] : [],
    ['+refs/heads/*:refs/seen/heads/*', '+refs/tags/*:refs/seen/tags/*'],
    options,
  );
}

async function commitOf(
  git: Git,
  folder: string,
  name: string,
  address: GitAddress,
  options: GitOptions,
): Promise<string> {
  try {
    const lines = await git.run(
      ['--git-dir', folder, 'rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`],
      { signal: options.signal },
    );
    const [commit = ''] = lines;
    return commit;
  } catch (error) {
    options.signal?.throwIfAborted();
    throw new BmadError(
      'not_found',
      `${address.url} has no branch, tag or commit ${quoted(address.ref || name)}.`,
      {
        subject: address.source,
        hint: 'Check the part after "#". A short id needs at least seven digits and must match exactly one commit.',
        cause: error,
      },
    );
  }
}

/** Whether one commit continues another; unknown where the remote does not tell. */
export async function continues(
  git: Git,
  { folder }: RepositoryPlace,
  address: GitAddress,
  older: string,
  newer: string,
  options: GitOptions,
): Promise<boolean | undefined> {
  try {
    if (await pathExists(join(folder, 'shallow')))
      await fetch(git, folder, address, ['--unshallow'], [newer], options);
    // With all of its history here, a commit that is missing cannot be part of it.
    const known = await commitOf(git, folder, older, address, options).catch(() => undefined);
    if (known === undefined) return false;
    const count = await git.run(
      ['--git-dir', folder, 'rev-list', '--count', '--max-count=1', '--end-of-options', older, `^${newer}`],
      { signal: options.signal },
    );
    return count[0] === '0';
  } catch (error) {
    options.signal?.throwIfAborted();
    if (error instanceof BmadError) return undefined;
    throw error;
  }
}
