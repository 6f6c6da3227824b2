import { fileStamp, fileStamps, type FileStamp } from '../../base/files/file-stamps.ts';
import { ListedFiles } from '../../base/files/listed-files.ts';
import type { CodeIndex } from './code-index.ts';
import { createFileLister, ownFiles, type FileList } from './file-list.ts';
import type { IndexerParts } from './indexer.ts';
import { isProse, languageOf } from './languages.ts';

/** Paths of files that are still to be read, to be taken apart by their grammar, and to get vectors. */
interface ToDo {
  queue: Set<string>;
  rough: Set<string>;
  bare: Set<string>;
}

type Searched = FileList & { own: number };

/** Fewer files are looked at in no time. */
const WORTH_WATCHING = 500;
/** What no system tells of, such as writing through memory, is found by a look at everything, at most this often. */
const LOOK_AGAIN_MS = 60_000;

/** The part of a pattern before its first placeholder: `_bmad/` of a pattern for all below it. */
function literalStart(path: string): string {
  return path.slice(0, path.search(/[*?]|$/));
}

/** Finds out which files there are and which have changed since they were read. */
export function createSurveyor(parts: IndexerParts, { files }: CodeIndex, { queue, rough, bare }: ToDo) {
  const { root, embedder, grammars } = parts;
  const listFiles = createFileLister(root, parts.ripgrep, parts.env);
  const listed = new ListedFiles(root);
  let stamps = new Map<string, FileStamp>();
  let own: { of: readonly string[]; has(path: string): boolean; rest: string[] } | undefined;
  /** What the last look at everything has found, and when. */
  let last: { paths: readonly string[]; list: Searched; at: number } | undefined;
  let surveying: Promise<unknown> = Promise.resolve();

  /** The list without BMAD's own files, unless a caller's path leads to them. */
  function searched(all: FileList, asked: string | undefined): Searched {
    if (own?.of !== all.paths) {
      const has = ownFiles(all.paths);
      own = { of: all.paths, has, rest: all.paths.filter((path) => !has(path)) };
    }
    const paths = asked !== undefined && own.has(literalStart(asked)) ? all.paths : own.rest;
    return { ...all, paths, own: all.paths.length - paths.length };
  }

  function isAsRead(path: string, now: FileStamp | undefined): boolean {
    const known = files.get(path);
    return known !== undefined && known.mtimeMs === now?.mtimeMs && known.size === now.size;
  }

  /** Looks at what the system has told of since the last look at everything; nothing where that is not enough. */
  async function quickly(asked: string | undefined): Promise<Searched | undefined> {
    const places = await listed.changed();
    if (places === undefined || last === undefined) return undefined;
    if (asked !== undefined && own?.has(literalStart(asked)) === true) return undefined;
    for (const place of places) {
      const path = last.paths[place] ?? '';
      const now = fileStamp(root, path);
      // What was a file and is none, or the other way round, makes another list.
      if ((now === undefined) === stamps.has(path)) return listed.forget();
      if (now === undefined) continue;
      stamps.set(path, now);
      if (!isAsRead(path, now)) queue.add(path);
    }
    return last.list;
  }

  async function thoroughly(
    first: (path: string) => boolean,
    asked: string | undefined,
    signal: AbortSignal,
  ): Promise<Searched> {
    const began = Date.now();
    listed.forget();
    const all = await listFiles(signal);
    const list = searched(all, asked);
    const isRead = list.paths === own?.rest && files.size > list.paths.length * 0.9;
    const follows = parts.watch === true && isRead && list.paths.length >= WORTH_WATCHING;
    const vouch = follows ? await listed.follow(list.paths, began, all.from) : undefined;
    const apart: number[] = [];
    const found = await fileStamps(root, list.paths, signal, apart);
    const paths: string[] = [];
    const stale: string[] = [];
    stamps = new Map();
    for (const [at, path] of list.paths.entries()) {
      const now = found[at];
      if (now === undefined) continue;
      paths.push(path);
      stamps.set(path, now);
      if (!isAsRead(path, now)) stale.push(path);
    }
    for (const path of files.keys()) if (!stamps.has(path)) files.delete(path);
    queue.clear();
    const order = (path: string): number => (first(path) ? 0 : 2) + (isProse(languageOf(path)) ? 1 : 0);
    for (const path of stale.sort((a, b) => order(a) - order(b))) queue.add(path);
    for (const set of [rough, bare]) for (const path of set) if (!stamps.has(path)) set.delete(path);
    for (const file of files.values()) {
      if (file.rough && grammars.available) rough.add(file.path);
      if (embedder !== undefined && file.vectorsFrom === undefined && file.count > 0) bare.add(file.path);
    }
    last = { paths: list.paths, list: { ...list, paths }, at: Date.now() };
    await vouch?.(apart);
    return last.list;
  }

  /** One after the other: the next would miss what this one is about to queue. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = surveying.then(work);
    surveying = turn.catch(() => undefined);
    return turn;
  }

  return {
    stampOf: (path: string): FileStamp | undefined => stamps.get(path),
    size: (): number => stamps.size,
    /**
     * Checks which files exist and which have changed; files to read are queued, `first` before the rest. BMAD's own files
     * count only where a caller's path leads to them.
     */
    survey: (first: (path: string) => boolean, asked: string | undefined, signal: AbortSignal) =>
      inTurn(async () => (await quickly(asked)) ?? thoroughly(first, asked, signal)),
    lookAgain(signal: AbortSignal): Promise<unknown> | undefined {
      if (last === undefined || Date.now() - last.at < LOOK_AGAIN_MS) return undefined;
      return inTurn(() => thoroughly(() => true, undefined, signal));
    },
    /** Whether a file is as it was when it was read, if it was. If not, the next survey looks at everything. */
    isCurrent(path: string): boolean {
      const isCurrent = !files.has(path) || isAsRead(path, fileStamp(root, path));
      if (!isCurrent) listed.forget();
      return isCurrent;
    },
    doubt: (): void => listed.forget(),
    close: (): void => listed.close(),
  };
}
