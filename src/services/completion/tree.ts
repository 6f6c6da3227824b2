import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';
import { FAMILY_FOLDERS } from '../../base/product.ts';
import { gunzipSync, gzipSync } from 'node:zlib';
import { mapLimited } from '../../base/async.ts';
import { attempt, ours } from '../../base/errors.ts';
import { fileMark, type FileMark } from '../../base/files/file-tree.ts';
import { readStateBytes, stateNames, writeAtomic } from '../../base/files/file-state.ts';
import { removeFile } from '../../base/files/open-file.ts';
import { walkFiles } from '../../base/process/project-files.ts';
import { type GitFiles, type GitFilesWanted, gitWorkTree } from '../../base/process/git.ts';
import { t } from '../../base/text/message.ts';
import { present, sha256 } from '../../base/values.ts';
import type { Kit } from '../../kit/kit.ts';
import { isOutputName, NOTE } from '../../kit/configuration.ts';
import { type Receipt, type ReceiptPlace, TREES } from './receipts.ts';
import type { Environment } from './run.ts';

/** What the files of a project are like at one moment. */
export interface Tree {
  /** SHA-256 of the list of all files with theirs. */
  digest: string;
  files: number;
  /** Who knows which files belong to the project. */
  listed: TreeFiles['listed'];
  /** How many files could not be read, so that nobody knows whether they change. */
  unread: number;
  /** The list itself: kind, digest and path of each file. */
  list: string;
}

/** Who waits for the files to be read, and for how much of them. */
interface Waiting {
  signal: AbortSignal;
  progress?: (message: string) => void;
  /** Without a limit, all files are read, however large they are. */
  mostBytes?: number;
}

/**
 * Reads all files that git tracks or would track (without git: all but the ignored), except what
 * agents write while they work, which is not what a contract verifies.
 */
export async function readTree(
  root: string,
  leftOut: LeftOut,
  env: Environment,
  waiting: Waiting,
): Promise<Tree> {
  const { list } = await projectFiles(root, leftOut, env, waiting.signal);
  return treeOf(root, await list(), leftOut, waiting);
}

/** The same of files that are known to belong to it. */
export async function treeOf(
  root: string,
  { paths, listed, cut }: Pick<TreeFiles, 'paths' | 'listed' | 'cut'>,
  leftOut: LeftOut,
  { signal, progress, mostBytes = Infinity }: Waiting,
): Promise<Tree> {
  const reading = { signal, room: mostBytes, onBytes: progress && bytesTold(progress) };
  const marks = new Map<string, FileMark>();
  const read = async (path: string): Promise<void> => {
    signal.throwIfAborted();
    // A name that is not text cannot be opened by what is left of it.
    const mark = path.includes('\uFFFD') ? UNREAD : await fileMark(root, path, reading);
    if (mark !== undefined) marks.set(path, mark);
  };
  await mapLimited(paths, 16, read);
  // What is listed as a folder is a repository of its own, such as a submodule: its files count like the others.
  const folders = [...marks].flatMap(([path, { kind }]) => (kind === 'folder' ? [path] : []));
  let isCut = cut;
  for (const folder of folders) {
    marks.delete(folder);
    const inner = await walkTree(root, signal, folder.endsWith('/') ? folder : `${folder}/`);
    await mapLimited(
      inner.paths.filter((path) => !leftOut(path)),
      16,
      read,
    );
    isCut ||= inner.cut;
  }
  const list = [...marks.keys()]
    .sort()
    .map((path) => `${marks.get(path)?.kind} ${marks.get(path)?.digest} ${path}\0`)
    .join('');
  const unread = [...marks.values()].filter(({ kind }) => kind === 'unread').length + (isCut ? 1 : 0);
  return { digest: sha256(list), files: marks.size, listed, unread, list };
}

const UNREAD: FileMark = { kind: 'unread', digest: '' };
const TOLD_MS = 1_000;

/** Tells about once a second how much has been read. */
function bytesTold(progress: (message: string) => void): (count: number) => void {
  let [bytes, told] = [0, performance.now()];
  return (count) => {
    bytes += count;
    if (performance.now() - told < TOLD_MS) return;
    told = performance.now();
    progress(t`Reading the project's files: ${Math.round(bytes / 1e6)} MB so far`);
  };
}

export interface TreeChange {
  path: string;
  change: 'added' | 'removed' | 'changed';
}

export function treeChanges(before: string, after: string): TreeChange[] {
  const [old, now] = [entries(before), entries(after)];
  const changes: TreeChange[] = [];
  for (const [path, mark] of now) {
    const earlier = old.get(path);
    if (earlier === undefined) changes.push({ path, change: 'added' });
    else if (earlier !== mark) changes.push({ path, change: 'changed' });
  }
  for (const path of old.keys()) if (!now.has(path)) changes.push({ path, change: 'removed' });
  return changes.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Kind and digest of each path of a list. */
export function entries(list: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const line of list.split('\0')) {
    const path = line.indexOf(' ', line.indexOf(' ') + 1);
    if (path > 0) found.set(line.slice(path + 1), line.slice(0, path));
  }
  return found;
}

const listPath = (folder: string, digest: string): string => join(folder, TREES, `${digest}.gz`);

type ListPlace = Pick<ReceiptPlace, 'folder' | 'inside' | 'also'>;

/** Keeps the list of what has passed, so that what has changed can be named later. It takes the place of the one before. */
export async function keepList({ folder, inside }: ListPlace, tree: Tree): Promise<void> {
  const own = listPath(folder, tree.digest);
  await writeAtomic(own, gzipSync(tree.list), { inside });
  const trees = dirname(own);
  for (const name of await stateNames(trees, inside))
    if (/^[0-9a-f]{64}\.gz$/.test(name) && name !== basename(own))
      await removeFile(join(trees, name), inside);
}

/** The list of a digest. It vouches for itself: one that was changed is as good as none. */
export async function keptList(place: ListPlace, digest: string): Promise<string | undefined> {
  const { folder, inside, also } = place;
  if (!/^[0-9a-f]{64}$/.test(digest)) return undefined;
  // Whatever else lies there in place of the list is as good as none, too.
  const bytes = await readStateBytes(listPath(folder, digest), { inside }).catch(ours(() => undefined));
  if (bytes === undefined) return also === undefined ? undefined : keptList(also, digest);
  const list = attempt(
    () => gunzipSync(bytes, { maxOutputLength: 100_000_000 }),
    () => undefined,
  );
  return list !== undefined && sha256(list) === digest ? list.toString('utf8') : undefined;
}

interface TreeFiles {
  /** What is verified, below the root and with slashes. */
  paths: string[];
  /** Whether git has listed one of them that no commit has. */
  untracked: boolean;
  listed: 'git' | 'walk';
  /** Whether not all could be listed, or there are too many. */
  cut: boolean;
}

const GIT_MS = 30_000;

/** What can be asked about the files of a project, at one moment and again after it. */
interface ProjectFiles {
  /** Those that git tracks or would track, else all that no ignore file names. */
  list(): Promise<TreeFiles>;
  /** Where the repository stands; nothing without one. What agents write does not make it dirty. */
  standing(files: TreeFiles): Promise<Receipt['git']>;
}

export async function projectFiles(
  root: string,
  leftOut: LeftOut,
  env: Environment,
  signal: AbortSignal,
): Promise<ProjectFiles> {
  const git = await gitWorkTree(root, { env, signal, timeoutMs: GIT_MS });
  return {
    async list() {
      // What only the repository's own settings leave out counts: no file of the project would tell of it.
      const known = lastListed(leftOut);
      const files = await git?.files({ byFilesAlone: true, leftOut, known });
      if (files === undefined) {
        const { paths, cut } = await walkTree(root, signal);
        return { paths: paths.filter((path) => !leftOut(path)), untracked: false, listed: 'walk', cut };
      }
      const { tracked, untracked } = files;
      return {
        paths: [...tracked, ...untracked],
        untracked: untracked.length > 0,
        listed: 'git',
        cut: false,
      };
    },
    async standing({ untracked }) {
      const status = await git?.status();
      if (status === undefined) return undefined;
      const { commit, branch, changed } = status;
      // Something of what is verified differs from the commit, or is not in it.
      const dirty = untracked || changed.some((path) => !leftOut(path));
      return present<NonNullable<Receipt['git']>>({ commit, branch, dirty });
    },
  };
}

/** What git has said of tens of thousands of files, most of them left out, it says in most calls again. */
function lastListed(leftOut: LeftOut): NonNullable<GitFilesWanted['known']> {
  return (said, read) => {
    const last = listed.get(leftOut);
    if (last !== undefined && areParts(said, last.said)) return last.files;
    const files = read();
    const all = Buffer.concat(said);
    if (all.length <= MOST_KEPT) listed.set(leftOut, { said: all, files });
    return files;
  };
}

/** To put the parts together first would make as much garbage again. */
function areParts(parts: readonly Buffer[], whole: Buffer): boolean {
  let from = 0;
  for (const part of parts) {
    const end = from + part.length;
    if (end > whole.length || whole.compare(part, 0, part.length, from, end) !== 0) return false;
    from = end;
  }
  return from === whole.length;
}

const listed = new WeakMap<LeftOut, { said: Buffer; files: GitFiles }>();
const MOST_KEPT = 5_000_000;

const FOREIGN =
  /(?:^|\/)(?:\.git|\.hg|\.svn|node_modules|\.venv|venv|__pycache__|\.terraform|\.tox|\.mypy_cache|\.pytest_cache)\/?$/;
/** More would fill the memory. */
const MOST_PATHS = 1_000_000;

/** Without git. What programs keep keys in counts too: only digests of it are kept. */
function walkTree(root: string, signal: AbortSignal, from = ''): Promise<Pick<TreeFiles, 'paths' | 'cut'>> {
  return walkFiles(root, {
    from,
    ignoring: ['.gitignore'],
    skips: (path) => FOREIGN.test(path),
    links: true,
    most: MOST_PATHS,
    rules: { secrets: 'mine' },
    signal,
  });
}

/** Whether a file of the project, by its path below the root, is left out of what is verified. */
export type LeftOut = (path: string) => boolean;

/**
 * What agents write while they work is not verified: documents, and the files of this server. The project's
 * own configuration says where that is, so it is not believed any further: code counts wherever it is, and of a folder that
 * may as well hold the project's sources, only what cannot be one is left out.
 */
export function leftOutOf({ output }: Kit, root: string, state: string): LeftOut {
  const by = [output ?? '', root, state].join('\n');
  if (knownLeftOut.size > MOST_PROJECTS) knownLeftOut.clear();
  const known = knownLeftOut.get(by) ?? madeLeftOut(output, root, state);
  knownLeftOut.set(by, known);
  return known;
}

/** What git has listed is known by them, so they are the same for as long as what they follow from is. */
const knownLeftOut = new Map<string, LeftOut>();
const MOST_PROJECTS = 8;

function madeLeftOut(output: string | undefined, root: string, state: string): LeftOut {
  const usual = FAMILY_FOLDERS.flatMap((name) => [`${name}-output`, `${name}/_memory`, `${name}/memory`]);
  const places = [
    ...usual.map((folder) => ({ folder, leaves: isDocument })),
    ...(output === undefined ? [] : [{ folder: output, leaves: documentsOf(output) }]),
  ];
  const users = below(root, state);
  const whole = users === undefined ? undefined : `${users}/`;
  const inside = places.map(({ folder, leaves }) => ({ start: `${folder}/`, leaves }));
  return (path) => {
    if (whole !== undefined && path.startsWith(whole)) return true;
    for (const { start, leaves } of inside) {
      if (!path.startsWith(start)) continue;
      const name = path.slice(path.lastIndexOf('/') + 1);
      if (leaves?.(name) === true) return true;
      const first = path.slice(start.length, path.indexOf('/', start.length));
      if (OWN_FOLDERS.has(first) && OWN_FILE.test(name)) return true;
    }
    return false;
  };
}

function documentsOf(output: string): ((name: string) => boolean) | undefined {
  // BMAD itself is there, whose documents are instructions.
  if (/^[._]?(?:bmad|grimoire)(?:\/|$)/i.test(output)) return undefined;
  return isOutputName(output) ? isDocument : (name) => NOTE.test(name);
}

/** Asked of each file, so it is no expression. */
const DOCUMENT = new Set(
  '.md .markdown .txt .log .diff .patch .yml .yaml .json .jsonl .csv .tsv .htm .html .xml .pdf .svg .png .jpg .jpeg .gif .webp .excalidraw .drawio .mmd .puml .lock .tmp'.split(
    ' ',
  ),
);

function isDocument(name: string): boolean {
  const dot = name.lastIndexOf('.');
  return dot !== -1 && DOCUMENT.has(name.slice(dot).toLowerCase());
}

/** Folders of this server, and what it writes there. */
const OWN_FOLDERS = new Set(['.receipts', '.runs', '.tasks', '.memory', '.bmad-memory']);
const OWN_FILE = /^\.git(?:ignore|keep)$|\.(?:md|ya?ml|jsonl?|gz|log|lock|tmp|db|db-wal|db-shm|db-journal)$/;

/** The user's state folder may lie in the project, in a container for instance. */
function below(root: string, folder: string): string | undefined {
  const path = relative(root, folder).split(sep).join('/');
  return path === '' || path.startsWith('..') || isAbsolute(path) ? undefined : path;
}
