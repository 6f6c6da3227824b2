import { say, t } from '../../base/text/message.ts';
import { present, sha256 } from '../../base/values.ts';
import { BmadError, quoted } from '../../base/errors.ts';
import { stripAddressCredentials } from '../../base/secrets/rules.ts';
import { withoutEnd } from '../../base/text/text.ts';

/** The parts of a git source. `ref` is empty where the remote's default branch is meant. */
export interface GitUrlSpec {
  protocol: 'https' | 'ssh' | 'file';
  host: string;
  org: string;
  repo: string;
  ref: string;
  subpath?: string;
}

/** A git source that has been checked: everything in it can be handed to git. */
export interface GitAddress extends GitUrlSpec {
  /** The source as it is shown, stored and compared: without credentials. */
  source: string;
  /** What git is asked to fetch from, without credentials. */
  url: string;
  /** Credentials that were part of the source; they go to git in its environment and nowhere else. */
  credentials?: { username: string; password: string };
  /** Name of the content: the last part of the subpath, or the repository. */
  name: string;
  /** Names the repository in the cache; all its refs share it. */
  repositoryKey: string;
  /** Names the source in the cache: repository, ref and subpath. */
  sourceKey: string;
}

const LONGEST = 2_000;
const HOST = /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])$/i;
const USER = /^[\w.~+][\w.~+-]*$/;
const FORMS =
  'git+https://host/org/repo.git, git+ssh://git@host/org/repo.git, git@host:org/repo.git or git+file:///folder/repo.git, each with #ref or #ref:/subpath.';

/** Takes a git source apart. Nothing runs here; whatever could be read as an option, a command or a way out is refused. */
export function parseGitAddress(text: string): GitAddress {
  const shown = quoted(stripAddressCredentials(text));
  const fail = (reason: string): BmadError =>
    new BmadError('invalid_input', t`Git source ${shown} is not valid: ${reason}.`, {
      subject: stripAddressCredentials(text).slice(0, 200),
      hint: t`A git source is ${say(FORMS)}`,
    });
  if (text.length > LONGEST) throw fail(t`it is too long`);
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[\u0000-\u001F\u007F]/.test(text)) throw fail(t`it has control characters`);
  const hash = text.indexOf('#');
  const where = remoteOf(hash === -1 ? text : text.slice(0, hash), fail);
  const { ref, subpath } = pointOf(hash === -1 ? '' : text.slice(hash + 1), fail);
  const tail =
    ref === '' && subpath === undefined ? '' : `#${ref}${subpath === undefined ? '' : `:/${subpath}`}`;
  const source = `git+${where.url}${tail}`;
  return present<GitAddress>({
    ...where,
    ref,
    subpath,
    source,
    name: subpath?.split('/').at(-1) ?? where.repo,
    repositoryKey: keyOf(where.url),
    sourceKey: keyOf(source),
  });
}

/** The whole text decides, so that two sources never share a key. */
function keyOf(text: string): string {
  return sha256(text).slice(0, 32);
}

type Fail = (reason: string) => BmadError;
type Remote = Pick<GitAddress, 'protocol' | 'host' | 'org' | 'repo' | 'url' | 'credentials'>;

function remoteOf(text: string, fail: Fail): Remote {
  const plain = text.startsWith('git+') ? text.slice(4) : text;
  if (/\s/.test(plain)) throw fail(t`the address has a space`);
  const scp = /^([^/:@]+)@([^/:@]+):(?!\/\/)(.+)$/.exec(plain);
  if (scp !== null) return scpRemote(scp[1] ?? '', scp[2] ?? '', scp[3] ?? '', fail);
  const [, scheme = ''] = /^([a-z][a-z0-9+.-]*):/i.exec(plain) ?? [];
  if (scheme === 'file') return fileRemote(plain, fail);
  if (scheme !== 'https' && scheme !== 'ssh')
    throw fail(
      scheme === 'http'
        ? t`http is not encrypted; use https`
        : t`${scheme === '' ? t`it has no transport` : t`the transport ${quoted(scheme)} is not allowed`}; use https, ssh or file`,
    );
  return urlRemote(plain, scheme, fail);
}

function urlRemote(plain: string, protocol: 'https' | 'ssh', fail: Fail): Remote {
  const match = /^[a-z]+:\/\/(?:([^/@]*)@)?(\[[^\]/]*\]|[^/:@[\]]*)(?::(\d{1,5}))?\/(.*)$/.exec(plain);
  if (match === null) throw fail(t`expected a host and a repository after the transport`);
  const [, userInfo, host = '', port, path = ''] = match;
  if (!HOST.test(host)) throw fail(t`the host is missing or malformed`);
  const segments = segmentsOf(path, fail);
  const [username = '', password] =
    userInfo === undefined ? [] : userInfo.split(/:(.*)/s, 2).map(decoded(fail));
  if (protocol === 'ssh') {
    if (password !== undefined) throw fail(t`ssh takes no password; use a key or the ssh agent`);
    if (userInfo !== undefined && !USER.test(username)) throw fail(t`the user name is malformed`);
  }
  const user = protocol === 'ssh' && username !== '' ? `${username}@` : '';
  return present<Remote>({
    protocol,
    host: host.toLowerCase(),
    ...ownerAndName(segments),
    url: `${protocol}://${user}${host.toLowerCase()}${port === undefined ? '' : `:${port}`}/${segments.join('/')}`,
    // A name without a password is how hosts take a token.
    credentials: protocol === 'https' && username !== '' ? { username, password: password ?? '' } : undefined,
  });
}

/** Kept in this form, because the path is one from the user's home folder, which a URL cannot say. */
function scpRemote(user: string, host: string, path: string, fail: Fail): Remote {
  if (!USER.test(user)) throw fail(t`the user name is malformed`);
  if (!HOST.test(host)) throw fail(t`the host is missing or malformed`);
  const absolute = path.startsWith('/') ? '/' : '';
  const segments = segmentsOf(path.slice(absolute.length), fail);
  return {
    protocol: 'ssh',
    host: host.toLowerCase(),
    ...ownerAndName(segments),
    url: `${user}@${host.toLowerCase()}:${absolute}${segments.join('/')}`,
  };
}

function fileRemote(plain: string, fail: Fail): Remote {
  const path = /^file:\/\/(?:localhost)?\/(.*)$/.exec(plain)?.[1];
  if (path === undefined) throw fail(t`a file source is git+file:/// and an absolute path`);
  const segments = segmentsOf(path, fail);
  return { protocol: 'file', host: '', ...ownerAndName(segments), url: `file:///${segments.join('/')}` };
}

function ownerAndName(segments: readonly string[]): { org: string; repo: string } {
  const repo = (segments.at(-1) ?? '').replace(/\.git$/, '');
  return { org: segments.slice(0, -1).join('/'), repo: repo === '' ? 'repository' : repo };
}

function segmentsOf(path: string, fail: Fail): string[] {
  const segments = withoutEnd(path, '/').split('/');
  for (const segment of segments) {
    const plain = decoded(fail)(segment);
    if (plain === '') throw fail(t`the repository is missing, or a part of its path is empty`);
    if (plain === '.' || plain === '..') throw fail(t`its path has dot segments`);
    if (plain.startsWith('-')) throw fail(t`a part of its path begins with a dash`);
    if (/[\\?]/.test(segment)) throw fail(t`its path has a backslash or a question mark`);
  }
  return segments;
}

function decoded(fail: Fail): (text: string) => string {
  return (text) => {
    try {
      const plain = decodeURIComponent(text);
      // eslint-disable-next-line no-control-regex -- control characters are what is looked for
      if (/[\u0000-\u001F\u007F]/.test(plain)) throw fail(t`it has control characters`);
      return plain;
    } catch (error) {
      throw error instanceof BmadError ? error : fail(t`it has a broken percent sequence`);
    }
  };
}

/** Splits `ref:/subpath`; git allows no colon in the name of a ref. */
function pointOf(text: string, fail: Fail): { ref: string; subpath: string | undefined } {
  const colon = text.indexOf(':');
  const ref = colon === -1 ? text : text.slice(0, colon);
  if (ref !== '' && !isRefName(ref))
    throw fail(t`${quoted(ref)} cannot be the name of a branch, tag or commit`);
  if (colon === -1) return { ref, subpath: undefined };
  const path = text.slice(colon + 1);
  if (!path.startsWith('/')) throw fail(t`the subpath must begin with a slash: #ref:/subpath`);
  const trimmed = withoutEnd(path.slice(1), '/');
  if (trimmed === '') return { ref, subpath: undefined };
  for (const segment of trimmed.split('/')) {
    if (segment === '' || segment === '.' || segment === '..')
      throw fail(t`the subpath has dot segments or empty parts`);
    if (segment.startsWith('-')) throw fail(t`a part of the subpath begins with a dash`);
    if (/\\/.test(segment)) throw fail(t`the subpath has a backslash`);
    if (segment.toLowerCase() === '.git') throw fail(t`the subpath points into .git`);
  }
  return { ref, subpath: trimmed };
}

/** The rules of `git check-ref-format`, and nothing that git would read as an option or a revision expression. */
function isRefName(ref: string): boolean {
  return (
    ref.length <= 250 &&
    !/^[-/.]|[/.]$|\.lock$|\.\.|\/\/|\/\.|@\{|^@$|[\s~^:?*[\\]/.test(ref) &&
    !ref.split('/').some((part) => part.endsWith('.lock'))
  );
}
