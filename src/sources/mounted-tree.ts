import { BmadError } from '../base/errors.ts';
import type { FolderEntry } from '../base/files/files.ts';
import { missing } from '../base/files/file-refusals.ts';
import type { Tree } from './tree.ts';

/** A folder of the disk, and the path under which it appears. The empty path is the top. */
export interface Mount {
  at: string;
  tree: Tree;
}

/**
 * Several folders as one tree. BMAD spreads an install over its own folder and those of the assistants; to everything
 * right of here it is one place. Each folder keeps its own jail: no path crosses from one into another.
 */
export function mountedTree(root: string, mounts: readonly Mount[]): Tree {
  const [only] = mounts;
  if (only !== undefined && mounts.length === 1 && only.at === '') return only.tree;
  const trees = new Map<string, Tree>();
  /** What is below each folder because something is mounted there. */
  const below = new Map<string, Set<string>>();
  for (const { at, tree } of mounts) {
    if (!trees.has(at)) trees.set(at, tree);
    for (let path = at; path !== '';) {
      const cut = Math.max(0, path.lastIndexOf('/'));
      const above = path.slice(0, cut);
      const names = below.get(above) ?? new Set();
      below.set(above, names.add(path.slice(cut === 0 ? 0 : cut + 1)));
      path = above;
    }
  }

  /** The deepest folder that is mounted on the way to a path. */
  function locate(path: string): { tree: Tree; inner: string } | undefined {
    for (let at = path; ;) {
      const tree = trees.get(at);
      if (tree !== undefined) return { tree, inner: path.slice(at === '' ? 0 : at.length + 1) };
      if (at === '') return undefined;
      at = at.slice(0, Math.max(0, at.lastIndexOf('/')));
    }
  }

  function found(path: string): { tree: Tree; inner: string } {
    const place = locate(path);
    if (place === undefined) throw missing(path);
    return place;
  }

  const mountedNames = (path: string): string[] => [...(below.get(path) ?? [])];

  const parts = mounts.map(({ at, tree: inner }) => inner.signature && [at, inner.signature]);
  const tree: Tree = {
    root,
    signature: parts.includes(undefined) ? undefined : JSON.stringify([root, parts]),
    read: async (path) => {
      const { tree: inner, inner: rest } = found(path);
      return inner.read(rest);
    },
    text: async (path) => {
      const { tree: inner, inner: rest } = found(path);
      return inner.text(rest);
    },
    async list(path) {
      const names = mountedNames(path);
      const entries = new Map<string, FolderEntry>();
      try {
        const { tree: inner, inner: rest } = found(path);
        for (const entry of await inner.list(rest)) entries.set(entry.name, entry);
      } catch (error) {
        // The folder may be there only for what is mounted below it.
        if (!(error instanceof BmadError) || error.code !== 'not_found' || names.length === 0) throw error;
      }
      for (const name of names) entries.set(name, { name, kind: 'folder' });
      return [...entries.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    },
    async files(path = '') {
      const all: string[] = [];
      for (const { at, tree: inner } of mounts) {
        const inside =
          at === '' ? path : at === path || at.startsWith(path === '' ? '' : `${path}/`) ? '' : undefined;
        const above = path.startsWith(`${at}/`) && at !== '' ? path.slice(at.length + 1) : undefined;
        const start = above ?? inside;
        if (start === undefined) continue;
        for (const file of await inner.files(start)) {
          const full = at === '' ? file : `${at}/${file}`;
          // A folder mounted inside another hides the one below it.
          if (locate(full)?.tree === inner) all.push(full);
        }
      }
      return all.sort();
    },
    modified: async (path) => {
      const place = locate(path);
      return place?.tree.modified(place.inner);
    },
    place: (path) => {
      const { tree: inner, inner: rest } = found(path);
      return inner.place(rest);
    },
  };
  return tree;
}
