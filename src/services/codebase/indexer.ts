import { t } from '../../base/text/message.ts';
import { setTimeout as pause } from 'node:timers/promises';
import { BmadError } from '../../base/errors.ts';
import { breath } from '../../base/async.ts';
import { type CodeIndex, createVocabulary, type Vocabulary } from './words.ts';
import { loadIndex, saveIndex, UNWRITTEN, type IndexIdentity } from './index-file.ts';
import type { Pack } from './pieces.ts';
import { readFile, readLines } from './searched-files.ts';
import { createSurveyor, type IndexerParts } from './survey.ts';
import { embedFile } from './vectors.ts';

export type Indexer = Awaited<ReturnType<typeof openIndexer>>;

/** This few changed files are parsed right away by their grammar, and are not worth saving. */
const FEW = 40;
/** Work worth this much is written down at the end, and in between after as much as the second. */
const WORTH_SAVING_MS = 150;
const SAVE_EVERY_MS = 6_000;
/** After so many files, what reading has left behind takes more memory than the index. */
const MUCH = 1_000;
/** More pieces on disk than there are, by this factor, are of files that have changed. */
const MOST_TWICE = 1.15;
/** So little is read to the end, however busy the machine is: an answer of a part would be one by luck. */
const LITTLE_BYTES = 1_000_000;
/** To open a file takes as long as to read this much of it. */
const OPENING_BYTES = 1_000;
const LOOK_MS = 50;
/** After so long it can be told how long the rest takes. */
const EARLY_MS = 700;
const TELL_EVERY_MS = 1_000;
/** After an embedder has failed, it is left alone for so long. */
const EMBEDDER_REST_MS = 60_000;

export async function openIndexer(parts: IndexerParts) {
  const { root, place, analyser, embedder, log } = parts;
  const identity: IndexIdentity = { root, analyser, embedder };
  const loaded = await loadIndex(place, identity);
  const index: CodeIndex =
    loaded.state === 'ready' ? loaded.index : { files: new Map(), vocabulary: createVocabulary(analyser) };
  let written = loaded.state === 'ready' ? loaded.written : UNWRITTEN;
  const notes: string[] = [];
  if (loaded.state === 'damaged') notes.push(t`This project’s index was damaged and is being rebuilt.`);

  /** Sets keep their order, which is the order of work. */
  const queue = new Set<string>();
  const rough = new Set<string>();
  const bare = new Set<string>();
  /** Files whose pieces are not on disk yet. */
  const changed = new Set<string>();
  /** Files that are out of the queue and not in the index yet: a search that did not wait for them would miss them. */
  let reading = 0;
  /** The same for vectors. */
  let embedding = 0;
  let unsavedMs = 0;
  let unsavedSteps = 0;
  let steps = 0;
  let failedSave = false;
  let embedderRests = 0;
  let running: Promise<void> | undefined;
  let waiters = 0;
  /** No one waits any longer for unfinished work: it continues with the next call. */
  let paused = false;
  const ended = new AbortController();
  const surveyor = createSurveyor(parts, index, { queue, rough, bare });

  async function read(path: string, quick: boolean): Promise<void> {
    const awaited = queue.delete(path) ? 1 : 0;
    rough.delete(path);
    const at = surveyor.stampOf(path);
    if (at === undefined) return;
    reading += awaited;
    try {
      const file = await readFile(parts, index.vocabulary, path, at, index.files.get(path), quick);
      index.files.set(path, file);
      changed.add(path);
      if (file.rough) rough.add(path);
      if (embedder !== undefined && file.vectorsFrom === undefined && file.count > 0) bare.add(path);
    } catch (error) {
      // Gone since it was listed, or not readable: the next survey looks again.
      index.files.delete(path);
      surveyor.doubt();
      if (!(error instanceof BmadError)) log.info('code index', { path, error: String(error) });
    } finally {
      reading -= awaited;
    }
  }

  async function embed(path: string): Promise<void> {
    bare.delete(path);
    const file = index.files.get(path);
    if (embedder === undefined || file === undefined) return;
    embedding += 1;
    try {
      const vectors = await embedFile(embedder, file, await readLines(root, path), ended.signal);
      // It may have been moved to another pack since.
      const now = index.files.get(path);
      if (now?.hash !== file.hash || now.rough !== file.rough) return;
      index.files.set(path, { ...now, pack: { ...now.pack, vectors }, vectorsFrom: 0 });
      changed.add(path);
    } catch (error) {
      if (error instanceof BmadError && error.code === 'not_found') return;
      bare.add(path);
      embedderRests = performance.now() + EMBEDDER_REST_MS;
      log.info('code index: embedder', { error: String(error) });
    } finally {
      embedding -= 1;
    }
  }

  /** One file at a time; reading comes first, then grammar and vectors: those of windows would be computed in vain. */
  function nextStep(): (() => Promise<void>) | undefined {
    const [path] = queue;
    if (path !== undefined) return () => read(path, queue.size > FEW || rough.size > FEW);
    const [coarse] = rough;
    const embeds = performance.now() >= embedderRests;
    if (coarse !== undefined)
      return async () => {
        await read(coarse, false);
        if (embeds && bare.has(coarse)) await embed(coarse);
      };
    const [plain] = embeds ? bare : [];
    return plain === undefined ? undefined : () => embed(plain);
  }

  async function loop(): Promise<void> {
    for (let step = nextStep(); step !== undefined; step = nextStep()) {
      if (ended.signal.aborted || paused || (waiters === 0 && !parts.background)) break;
      const began = performance.now();
      await step();
      unsavedMs += performance.now() - began;
      unsavedSteps += 1;
      steps += 1;
      if (unsavedMs > SAVE_EVERY_MS) await save(false);
      await breath();
    }
    index.vocabulary.rest();
    if (unsavedMs > WORTH_SAVING_MS || unsavedSteps > FEW) await save(true);
    if (steps < MUCH || changed.size > 0 || nextStep() !== undefined) return;
    steps = 0;
    parts.onWritten?.();
  }

  /** What another process has read of files that are still as they were then. */
  function adopt(other: CodeIndex): void {
    const packs = new Map<Pack, Pack>();
    for (const file of other.files.values()) {
      const at = surveyor.stampOf(file.path);
      if (index.files.has(file.path) || at?.mtimeMs !== file.mtimeMs || at.size !== file.size) continue;
      const pack = packs.get(file.pack) ?? withOurNumbers(file.pack, other.vocabulary);
      packs.set(file.pack, pack);
      index.files.set(file.path, { ...file, pack });
      queue.delete(file.path);
    }
  }

  function withOurNumbers(pack: Pack, { list }: Vocabulary): Pack {
    const words = pack.words.map(
      (packed) => index.vocabulary.list.add(list.at(packed >>> 8)) * 256 + (packed & 255),
    );
    return { ...pack, words };
  }

  /** `last` is when nothing more is to be done: then what is there twice is worth writing all of it anew. */
  async function save(last: boolean): Promise<void> {
    unsavedMs = 0;
    unsavedSteps = 0;
    if (parts.writes === false) return;
    const saving = [...changed];
    changed.clear();
    try {
      const anew = last && written.pieces > MOST_TWICE * piecesIn(index);
      written = await saveIndex(place, index, identity, { written, changed: saving, anew }, adopt);
      failedSave = false;
    } catch (error) {
      for (const path of saving) changed.add(path);
      const why = error instanceof BmadError ? error.message : 'I/O error';
      if (!failedSave) notes.push(t`The index is kept in memory only: ${why}`);
      failedSave = true;
    }
  }

  const begin = (): Promise<void> =>
    (running ??= loop().finally(() => {
      running = undefined;
    }));

  function isWorthWaiting(vectorsToo: boolean): boolean {
    const unread = queue.size + reading;
    if (unread > 0 || (parts.background && !vectorsToo)) return unread > 0;
    return rough.size + embedding > 0 || (bare.size > 0 && performance.now() > embedderRests);
  }

  /** Whether so much is left that it cannot be read in time: then the answer is one of a part, now as well as later. */
  function isHopeless(unread: number, passed: number, time: number): boolean {
    const left = queue.size + reading;
    return passed > EARLY_MS && left > 0 && (passed * unread) / Math.max(1, unread - left) > time;
  }

  function isLittle(): boolean {
    let bytes = 0;
    for (const path of queue) bytes += Math.max(OPENING_BYTES, surveyor.stampOf(path)?.size ?? 0);
    return bytes <= LITTLE_BYTES;
  }

  return {
    index,
    /** Notes about the index itself, each one once. */
    takeNotes: (): string[] => notes.splice(0),
    /** What is still to be done: files not read, files cut into windows only, files without vectors. */
    pending: () => ({ files: queue.size + reading, rough: rough.size, vectors: bare.size + embedding }),
    survey: surveyor.survey,
    isCurrent: surveyor.isCurrent,
    /** Looks at everything if only the system was asked for a while. For after an answer. */
    lookAgain(): void {
      if (parts.background) void surveyor.lookAgain(ended.signal)?.then(begin, () => undefined);
    },
    /** Works until everything can be found by words, or by meaning too, or until the time is up and much is left. */
    async work(
      deadline: number,
      signal: AbortSignal,
      tell: (message: string) => void,
      vectorsToo = false,
    ): Promise<void> {
      waiters += 1;
      paused = false;
      const began = performance.now();
      const unread = queue.size + reading;
      const toTheEnd = unread > 0 && isLittle();
      const isAwaited = (): boolean =>
        performance.now() < deadline ? isWorthWaiting(vectorsToo) : toTheEnd && queue.size + reading > 0;
      let told = began;
      try {
        while (isAwaited()) {
          signal.throwIfAborted();
          if (
            !toTheEnd &&
            parts.background &&
            isHopeless(unread, performance.now() - began, deadline - began)
          )
            break;
          await Promise.race([
            begin(),
            pause(toTheEnd ? LOOK_MS : Math.min(LOOK_MS, Math.max(1, deadline - performance.now()))),
          ]);
          if (performance.now() - told > TELL_EVERY_MS) {
            told = performance.now();
            tell(t`Reading the code: ${index.files.size} of ${surveyor.size()} files`);
          }
        }
        signal.throwIfAborted();
      } finally {
        waiters -= 1;
        paused = signal.aborted && waiters === 0;
        // If nothing continues in the background, the work done is saved before the answer is returned.
        if (!parts.background) await running;
      }
      if (parts.background) void begin();
    },
    /** Takes these files apart by their grammar now. */
    async refine(paths: readonly string[]): Promise<void> {
      for (const path of paths) if (index.files.get(path)?.rough === true) await read(path, false);
    },
    stop(): void {
      ended.abort();
      surveyor.close();
    },
  };
}

function piecesIn({ files }: CodeIndex): number {
  let pieces = 0;
  for (const { count } of files.values()) pieces += count;
  return pieces;
}
