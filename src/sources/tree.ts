import { join } from 'node:path';
import { mapLimited, onceEach } from '../base/async.ts';
import { expected, unlessMissing } from '../base/errors.ts';
import {
  type FolderEntry,
  type InsideRules,
  listInside,
  modifiedInside,
  readInside,
} from '../base/files/files.ts';
import type { Seen } from '../base/files/keeper.ts';
import { canBeNamed, isOwnState } from '../base/files/paths.ts';
import { missing } from '../base/files/file-refusals.ts';
import { isSecretEntry } from '../base/secrets/names.ts';
import { decodeText } from '../base/text/text.ts';
import type { DeclaredModule } from '../model/module.ts';
import type { Origin } from '../model/origin.ts';

/** A read-only view of a folder. Paths are relative, with forward slashes; nothing outside the folder can be named. */
export interface Tree {
  readonly root: string;
  /** What decides which files it has, beside the disk; undefined where that cannot be said. */
  readonly signature?: string | undefined;
  read(path: string): Promise<Buffer>;
  text(path: string): Promise<string>;
  list(path: string): Promise<FolderEntry[]>;
  /** Where a path is on disk, for people and for the master manifest. */
  place(path: string): string;
  /** When a file was last changed, in milliseconds; undefined if it does not exist. */
  modified(path: string): Promise<number | undefined>;
  /** Every file below `path`, sorted. Folders that cannot be read are left out. */
  files(path?: string): Promise<string[]>;
}

const DEPTH_LIMIT = 256;
const FILE_LIMIT = 100_000;
const READS_AT_ONCE = 16;

/** What version control and package managers keep beside the content; it may hold credentials and is never content. */
const HIDDEN = /(?:^|\/)(?:\.git|node_modules)(?:\/|$)/i;

/** What a project remembers is beside BMAD's content, and none of it: what is written there leaves the content as it is. */
const STATE = '_memory';

const isHidden = (path: string): boolean => isOwnState(path) || HIDDEN.test(path);

/** A link, or another spelling that the disk takes for the same name, leads to our state no more than its name does. */
const serves = (realPath: string): boolean => !isOwnState(realPath);

interface TreeRules {
  /** Which of its paths belong to the tree, where not all of them do. */
  shows?: ((path: string) => boolean) | undefined;
  /** The real path of the folder that the root has to be in, whatever it leads to. */
  within?: string | undefined;
  /** Hears of what is looked at. */
  seen?: Seen | undefined;
}

/** A folder as a tree. */
export function folderTree(
  root: string,
  maxFileBytes: number,
  { shows, within, seen }: TreeRules = {},
): Tree {
  const shown = (path: string): boolean =>
    path === '' || (!isHidden(path) && (shows === undefined || shows(path)));
  function checked(path: string): string {
    if (shown(path)) return path;
    throw missing(path);
  }
  // Any folder of a project can be declared to be content, also one with an `.env` in it. Patterns for such files are content.
  const rules: InsideRules = { serves, within, seen, secrets: 'patterns' };
  const tree: Tree = {
    root,
    signature: shows === undefined ? `${root} ${within ?? ''}` : undefined,
    read: async (path) => readInside(root, checked(path), maxFileBytes, rules),
    text: async (path) => decoded(await tree.read(path)),
    list: async (path) => {
      const entries = await listInside(root, checked(path), rules);
      return entries.filter(({ name, kind }) => {
        const full = path === '' ? name : `${path}/${name}`;
        return full !== STATE && shown(full) && !isSecretEntry(full, kind, 'patterns');
      });
    },
    place: (path) => join(root, path),
    modified: async (path) => (shown(path) ? modifiedInside(root, path, rules) : undefined),
    async files(path = '') {
      const found: string[] = [];
      await collect(tree, path, 0, found);
      return found.sort();
    },
  };
  return tree;
}

/** The same tree with every file kept after its first reading; only for content that cannot change while we run. */
export function rememberingTree(tree: Tree): Tree {
  // A refusal is not kept: the reason may be gone the next time.
  const read = onceEach((path: string) => tree.read(path));
  return { ...tree, read, text: async (path) => decoded(await read(path)) };
}

/** The same tree with every folder listed once: for the readers of one source, each of which looks at the same ones. */
export function listedOnce(tree: Tree): Tree {
  return { ...tree, list: onceEach((path: string) => tree.list(path)) };
}

/** The same tree, of which somebody hears whose content is read. */
export function readsNoted(tree: Tree, note: (path: string) => void): Tree {
  return {
    ...tree,
    // What is not there has no place: it fails as the tree itself does.
    async read(path) {
      const bytes = await tree.read(path);
      note(path);
      return bytes;
    },
    async text(path) {
      const text = await tree.text(path);
      note(path);
      return text;
    },
  };
}

/** The mark of UTF-8 stays in the text, so that what is delivered is what is on disk. */
function decoded(bytes: Buffer): string {
  return decodeText(bytes, true);
}

async function collect(tree: Tree, path: string, depth: number, found: string[]): Promise<void> {
  if (depth > DEPTH_LIMIT || found.length > FILE_LIMIT) return;
  const entries = await tree.list(path).catch(expected(() => []));
  const prefix = path === '' ? '' : `${path}/`;
  const folders: string[] = [];
  for (const entry of entries) {
    if (!canBeNamed(entry.name)) continue;
    if (entry.kind === 'file') found.push(prefix + entry.name);
    else if (entry.link !== true) folders.push(prefix + entry.name);
  }
  await mapLimited(folders, READS_AT_ONCE, (folder) => collect(tree, folder, depth + 1, found));
}

/** The text of a file that may be absent; any other trouble is the caller's to report. */
export async function optionalText(tree: Tree, path: string): Promise<string | undefined> {
  return tree.text(path).catch(unlessMissing);
}

/** An origin together with its bytes. */
export interface Source {
  origin: Origin;
  tree: Tree;
  /** What its content is called where it does not say so itself; otherwise the folder's name. */
  name?: string;
  /** What a marketplace says about the modules in the tree, each of which is a separate folder at the top. */
  declared?: readonly DeclaredModule[];
  /** What was made of it when it was built, if it cannot have changed since. */
  prepared?: () => Promise<string | undefined>;
}
