import { t } from '../../base/text/message.ts';
import { BmadError, quoted } from '../../base/errors.ts';
import { nearest } from '../../base/text/suggest.ts';
import type { GitAddress } from './address.ts';
import type { Git, GitOptions } from './git.ts';

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
    hint: t`Name one: ${address.source}#<branch>. ${known(refs)}`,
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
    hint: known(refs),
  });
}

const shortNames = (refs: Map<string, string>): string[] =>
  [...refs.keys()]
    .filter((name) => /^refs\/(?:heads|tags)\//.test(name) && !name.endsWith('^{}'))
    .map((name) => name.replace(/^refs\/(?:heads|tags)\//, ''));

function known(refs: Map<string, string>): string {
  const names = shortNames(refs);
  return t`It has: ${names.slice(0, 10).join(', ')}${names.length > 10 ? t`, and ${names.length - 10} more` : ''}.`;
}
