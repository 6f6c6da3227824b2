import { join } from 'node:path';
import { BmadError, quoted } from '../../base/errors.ts';
import {
  discardFolder,
  newWorkFolder,
  publishFolder,
  removeTree,
  stateNames,
} from '../../base/files/file-state.ts';
import { pathExists } from '../../base/files/files.ts';
import { t } from '../../base/text/message.ts';
import { nearest } from '../../base/text/suggest.ts';
import type { GitAddress } from './address.ts';
import type { Git, GitOptions } from './git.ts';

/** Where the objects of one repository are kept, for all its refs. Callers hold the repository's lock. */
export interface RepositoryPlace {
  folder: string;
  /** Folder for unfinished work, on the same disk. */
  work: string;
}

/** What one source is fetched with. */
export interface Fetching {
  git: Git;
  address: GitAddress;
  options: GitOptions;
}

/**
 * The bare repository with the objects of the ref in it; answers with the full id of the commit. Works on the existing
 * repository, or on a new one that is moved into place when it is complete. One that turns out to be broken is recreated
 * one time: the copies that are served are elsewhere.
 */
export async function fetchRef(fetching: Fetching, place: RepositoryPlace, ref: RemoteRef): Promise<string> {
  const { git, options } = fetching;
  if (await pathExists(place.folder)) {
    await clearLeftovers(place.folder);
    try {
      return await fetchInto(fetching, place.folder, ref);
    } catch (error) {
      if (!isBroken(error)) throw error;
      await discardFolder(place.folder, place.work);
    }
  }
  const draft = await newWorkFolder(place.work);
  try {
    await git.init(draft, options);
    const commit = await fetchInto(fetching, draft, ref);
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

async function fetchInto(fetching: Fetching, folder: string, ref: RemoteRef): Promise<string> {
  const { git, address, options } = fetching;
  const newest = (name: string): Promise<void> =>
    git.fetch(folder, address, { refs: [`+${name}:${kept(address)}`], history: 'none' }, options);
  if (ref.fullName !== undefined) {
    await newest(ref.fullName);
    return commitOf(fetching, folder, kept(address));
  }
  const wanted = ref.commit ?? address.ref.toLowerCase();
  if (ref.commit !== undefined) {
    const known = await commitOf(fetching, folder, wanted).catch(() => undefined);
    if (known !== undefined) return known;
    try {
      await newest(wanted);
      return await commitOf(fetching, folder, wanted);
    } catch (error) {
      options.signal?.throwIfAborted();
      if (!(error instanceof BmadError)) throw error;
      // Some hosts hand out a commit only together with a branch or tag that leads to it.
    }
  }
  const everything = ['+refs/heads/*:refs/seen/heads/*', '+refs/tags/*:refs/seen/tags/*'];
  await git.fetch(folder, address, { refs: everything, history: 'all' }, options);
  return commitOf(fetching, folder, wanted);
}

/** A ref of ours for each source: what it leads to need not be sent again for the next one. */
const kept = ({ sourceKey }: GitAddress): string => `refs/kept/${sourceKey}`;

async function commitOf({ git, address, options }: Fetching, folder: string, name: string): Promise<string> {
  try {
    return await git.commit(folder, name, options);
  } catch (error) {
    options.signal?.throwIfAborted();
    throw new BmadError(
      'not_found',
      t`${address.url} has no branch, tag or commit ${quoted(address.ref || name)}.`,
      {
        subject: address.source,
        hint: t`Check the part after "#". A short id needs at least seven digits and must match exactly one commit.`,
        cause: error,
      },
    );
  }
}

/** Whether one commit continues another; unknown where the remote does not tell. */
export async function continues(
  fetching: Fetching,
  { folder }: RepositoryPlace,
  older: string,
  newer: string,
): Promise<boolean | undefined> {
  const { git, address, options } = fetching;
  try {
    if (await pathExists(join(folder, 'shallow')))
      await git.fetch(folder, address, { refs: [newer], history: 'all' }, options);
    // With all of its history here, a commit that is missing cannot be part of it.
    const known = await commitOf(fetching, folder, older).catch(() => undefined);
    if (known === undefined) return false;
    return await git.isAncestor(folder, older, newer, options);
  } catch (error) {
    options.signal?.throwIfAborted();
    if (error instanceof BmadError) return undefined;
    throw error;
  }
}

/** What a ref of a source is at the remote. A commit that no name leads to has no ref of its own. */
export interface RemoteRef {
  kind: 'default' | 'branch' | 'tag' | 'commit';
  /** Full name at the remote, such as `refs/heads/main`; nothing for a commit. */
  fullName?: string;
  /** Full id if the remote reported it; a short id is resolved only after fetching. */
  commit?: string;
}

/** Asks the remote what the ref of a source means now. */
export async function lookAtRemote(git: Git, address: GitAddress, options: GitOptions): Promise<RemoteRef> {
  const lines = await git.refs(address, options);
  const refs = new Map<string, string>();
  let head: string | undefined;
  for (const line of lines) {
    const [value = '', name = ''] = line.split('\t');
    if (value.startsWith('ref: ') && name === 'HEAD') head = value.slice(5);
    else if (/^[0-9a-f]{40,64}$/.test(value)) refs.set(name, value);
  }
  if (refs.size === 0)
    throw new BmadError('not_found', t`${address.url} is an empty repository.`, {
      subject: address.source,
      hint: t`Push content to it, then try again.`,
    });
  return address.ref === '' ? defaultRef(address, refs, head) : namedRef(address, refs);
}

function defaultRef(address: GitAddress, refs: Map<string, string>, head: string | undefined): RemoteRef {
  const commit = refs.get('HEAD') ?? refs.get(head ?? '');
  if (commit !== undefined)
    return { kind: 'default', commit, fullName: refs.has('HEAD') ? 'HEAD' : (head ?? 'HEAD') };
  throw new BmadError('not_found', t`${address.url} has no default branch.`, {
    subject: address.source,
    hint: t`Name one: ${address.source}#<branch>. ${knownNames(refs)}`,
  });
}

/**
 * A full id is a commit, whatever branches are called. If a branch and a tag have the same name, neither is meant:
 * anyone who may push branches could put one in the place of a tag.
 */
function namedRef(address: GitAddress, refs: Map<string, string>): RemoteRef {
  const { ref } = address;
  if (/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i.test(ref)) return { kind: 'commit', commit: ref.toLowerCase() };
  const [branch, tag] = [`refs/heads/${ref}`, `refs/tags/${ref}`];
  if (refs.has(branch) && refs.has(tag))
    throw new BmadError('ambiguous', t`${address.url} has a branch and a tag ${quoted(ref)}.`, {
      subject: address.source,
      hint: t`Specify which one you mean: #${branch} or #${tag}.`,
    });
  for (const name of [branch, tag, ...(ref.startsWith('refs/') ? [ref] : [])]) {
    const id = refs.get(name);
    if (id === undefined) continue;
    // The second line of an annotated tag names the commit it stands for.
    const kind = name.startsWith('refs/tags/') ? 'tag' : 'branch';
    return { kind, fullName: name, commit: refs.get(`${name}^{}`) ?? id };
  }
  if (/^[0-9a-f]{7,39}$/i.test(ref)) return { kind: 'commit' };
  throw new BmadError('not_found', t`${address.url} has no branch or tag ${quoted(ref)}.`, {
    subject: address.source,
    suggestions: nearest(ref, shortNames(refs)),
    hint: knownNames(refs),
  });
}

const shortNames = (refs: Map<string, string>): string[] =>
  [...refs.keys()]
    .filter((name) => /^refs\/(?:heads|tags)\//.test(name) && !name.endsWith('^{}'))
    .map((name) => name.replace(/^refs\/(?:heads|tags)\//, ''));

function knownNames(refs: Map<string, string>): string {
  const names = shortNames(refs);
  return t`It has: ${names.slice(0, 10).join(', ')}${names.length > 10 ? t`, and ${names.length - 10} more` : ''}.`;
}
