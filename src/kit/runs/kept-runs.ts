import { forAll } from '../../base/text/message.ts';
import { breath, mapLimited, once } from '../../base/async.ts';
import { ours } from '../../base/errors.ts';
import { jsonObject } from '../../base/parse/json.ts';
import { type Table, textField } from '../../base/parse/parse.ts';
import { readState, writeAtomic } from '../../base/files/file-state.ts';
import { modifiedInside, readInside } from '../../base/files/files.ts';
import {
  isSettled,
  lstatOf,
  type Stamp,
  stampAt,
  stampOf,
  statOf,
  type Stats,
} from '../../base/files/file-stamps.ts';
import type { Run, RunPlace } from '../../model/run.ts';
import { latestIn, RUN_FILES, type RunName, withArtefacts, writtenRun } from './read-run.ts';
import { isEnded, runName, RUNS, type RunFold, type RunLines } from './run-fold.ts';
import { listFolders } from './run-folders.ts';
import { STATE_FILE } from './state-file.ts';

/** How many runs are read at once, and how many are kept at most. */
const AT_ONCE = 16;
const MOST = 50_000;
/** A state that is larger is read as a whole. */
const MOST_BYTES = 1_000_000;
/** So many that have ended take longer to read than what is kept of them. */
const KEPT_FROM = 500;
const KEPT_BYTES = 100_000_000;
/** Raised when something else is kept of them. */
const KEPT_VERSION = 1;

/** What tells of a change: the folder of a run, and its files that were there. */
interface Stamps {
  /** Nothing where it does not yet tell whether a file has been added. */
  folder: Stamp | undefined;
  files: readonly (Stamp | undefined)[];
}

interface Known {
  name: RunName;
  stamps: Stamps;
  /** What the lines made of it. */
  fold: RunFold | undefined;
  run: Run;
}

/** What is known of a run that has ended, though not all of it was read. */
export interface EndedRun {
  workflow: string | undefined;
  latest: number;
}

/** Nothing for one that its file says goes on. */
interface LookedAt {
  stamp: Stamp;
  ended: EndedRun | undefined;
}

/**
 * Runs that were read before, each kept for as long as its files are as they were. Others write them too, so that they
 * are looked at each time; but of thousands, only those that have changed are read again.
 */
export class KeptRuns {
  readonly #kept = new Map<string, Known>();
  readonly #lookedAt = new Map<string, LookedAt>();
  readonly #path: string | undefined;
  /** How many of those that have ended were read since this was kept on disk. */
  #unkept = 0;
  /** Takes in what an earlier process has kept. */
  readonly begin: () => Promise<void>;
  readonly #listed = new Map<string, { stamp: Stamp; names: readonly string[] }>();

  /** With a path, what is known of runs that have ended is kept there for the next process. It can be removed at any time. */
  constructor(path?: string) {
    this.#path = path;
    this.begin = once(() => this.#remember());
  }

  async #remember(): Promise<void> {
    if (this.#path === undefined) return;
    const text = await readState(this.#path, { maxBytes: KEPT_BYTES }).catch(() => undefined);
    const { version, ended } = jsonObject(text ?? '') ?? {};
    if (version !== KEPT_VERSION || !Array.isArray(ended)) return;
    for (const [file, looked] of ended as [string, LookedAt][]) this.#lookedAt.set(file, looked);
  }

  /** One that cannot be written costs the next process its time, and nothing else. */
  async keep(): Promise<void> {
    if (this.#path === undefined || this.#unkept < KEPT_FROM) return;
    this.#unkept = 0;
    const ended = [...this.#lookedAt].filter(([, looked]) => looked.ended !== undefined);
    await writeAtomic(this.#path, JSON.stringify({ version: KEPT_VERSION, ended })).catch(() => undefined);
  }

  /** The run in a folder; nothing where it has none of a run's files, or they lead elsewhere. */
  async read(root: string, place: RunPlace, name: RunName, lines?: RunLines): Promise<Run | undefined> {
    const fold = lines?.get(runName(name));
    const known = this.#asBefore(place, name, fold);
    return known === undefined ? forAll(() => this.#read(root, place, name, fold)) : withFiles(root, known);
  }

  /** Those of many, in their order. */
  async readMany(
    root: string,
    named: readonly (readonly [RunName, RunPlace])[],
    lines: RunLines | undefined,
  ): Promise<Run[]> {
    const found: (Run | undefined)[] = [];
    const open: number[] = [];
    for (const [index, [name, place]] of named.entries()) {
      await breath();
      const run = this.#asBefore(place, name, lines?.get(runName(name)));
      found.push(run);
      if (run === undefined || hasFiles(run)) open.push(index);
    }
    await mapLimited(open, AT_ONCE, async (index) => {
      const [name, place] = named[index] as (typeof named)[number];
      const known = found[index];
      found[index] = await (known === undefined
        ? forAll(() => this.#read(root, place, name, lines?.get(runName(name))))
        : withFiles(root, known));
    });
    return found.filter((run) => run !== undefined);
  }

  /**
   * What of a run is known that has ended, by its lines, if there are any, and by its file: of thousands of those, each is
   * looked at, and read only if it has changed. Nothing for one that goes on, or that has to be read to know.
   */
  ended(
    { base, path }: RunPlace,
    name: RunName,
    lines: RunLines | undefined,
  ): EndedRun | undefined | Promise<EndedRun | undefined> {
    const fold = lines?.get(runName(name));
    if (fold !== undefined && !RUNS.isOver(fold)) return undefined;
    const file = `${base}/${path}/${STATE_FILE}`;
    const known = this.#lookedAt.get(file);
    const found = statOf(file);
    if (found === undefined) return undefined;
    const stamp = stampOf(found, known?.stamp);
    return stamp === known?.stamp ? known.ended : this.#lookAt(base, `${path}/${STATE_FILE}`, stamp, found);
  }

  async #lookAt(base: string, path: string, stamp: Stamp, found: Stats): Promise<EndedRun | undefined> {
    const isKept = isSettled(stamp.ctimeMs);
    // It was looked at a moment ago.
    const seen = { look: () => found, find: () => found, listed: () => undefined };
    const bytes = await readInside(base, path, MOST_BYTES, { seen }).catch(ours(() => ''));
    const ended = endedIn(jsonObject(bytes.toString('utf8')));
    const file = `${base}/${path}`;
    if (this.#lookedAt.size >= MOST) this.#lookedAt.clear();
    if (isKept) this.#lookedAt.set(file, { stamp, ended });
    else this.#lookedAt.delete(file);
    if (isKept && ended !== undefined) this.#unkept += 1;
    return ended;
  }

  /** The names of the folders in a folder; told in `problems` is what leads elsewhere. */
  async folders({ base, path }: RunPlace, problems: string[]): Promise<readonly string[]> {
    const folder = `${base}/${path}`;
    const known = this.#listed.get(folder);
    const stamp = stampAt(folder, known?.stamp);
    if (known !== undefined && stamp === known.stamp) return known.names;
    const isKept = stamp !== undefined && isSettled(stamp.ctimeMs);
    const { names, plain } = await listFolders(base, path, problems);
    // What a link leads to can change without a change of the folder that the link is in.
    if (plain && isKept) this.#listed.set(folder, { stamp, names });
    else this.#listed.delete(folder);
    return names;
  }

  /** What was read before, if nothing of it has changed. */
  #asBefore(place: RunPlace, name: RunName, fold: RunFold | undefined): Run | undefined {
    const folder = `${place.base}/${place.path}`;
    const known = this.#kept.get(folder);
    if (known === undefined || known.fold !== fold || !isSameName(known.name, name)) return undefined;
    const { stamps } = known;
    const now = stampsIn(folder, stamps);
    if (now !== stamps && now.files.some((stamp, index) => stamp !== stamps.files[index])) return undefined;
    known.stamps = now;
    return known.run;
  }

  async #read(
    root: string,
    place: RunPlace,
    name: RunName,
    fold: RunFold | undefined,
  ): Promise<Run | undefined> {
    // Stamps from before the reading: a change in between is seen the next time.
    const folder = `${place.base}/${place.path}`;
    const stamps = stampsIn(folder);
    // What was written just now may be written again without another stamp, however long it takes to read it.
    const isKept = stamps.files.every(isTelling);
    const there = RUN_FILES.filter((_, index) => stamps.files[index] !== undefined);
    const inside = await Promise.all(
      there.map((file) => modifiedInside(place.base, `${place.path}/${file}`)),
    );
    if (fold === undefined && inside.every((time) => time === undefined)) return undefined;
    const run = await writtenRun(place, name, fold, there);
    if (this.#kept.size >= MOST) this.#kept.clear();
    if (isKept) this.#kept.set(folder, { name, stamps, fold, run });
    else this.#kept.delete(folder);
    return withFiles(root, run);
  }
}

function endedIn(table: Table | undefined): EndedRun | undefined {
  if (table === undefined || !isEnded(table)) return undefined;
  const text = (name: string): string | undefined => textField(table, name)?.trim() || undefined;
  const latest = latestIn({ lastCheckpoint: text('last_checkpoint'), startedAt: text('started_at') });
  // One without a date that can be understood has to be read.
  if (latest === undefined || Number.isNaN(latest)) return undefined;
  return { workflow: text('workflow') ?? text('workflow_path'), latest };
}

const isSameName = (one: RunName, other: RunName): boolean =>
  one.id === other.id && one.branch === other.branch && one.archive === other.archive;

const hasFiles = ({ state }: Run): boolean => state !== undefined && state.artefacts.length > 0;

const withFiles = (root: string, run: Run): Promise<Run> | Run =>
  hasFiles(run) ? withArtefacts(root, run) : run;

const isTelling = (stamp: Stamp | undefined): boolean => stamp === undefined || isSettled(stamp.ctimeMs);

/** Files that were not there are looked for only if the folder has changed: most runs have one or two of the four. */
function stampsIn(folder: string, before?: Stamps): Stamps {
  const own = stampAt(folder, before?.folder);
  if (own !== undefined && before !== undefined && own === before.folder) {
    const isSame = before.files.every(
      (stamp, index) => stamp === undefined || stampAt(`${folder}/${RUN_FILES[index]}`, stamp) === stamp,
    );
    if (isSame) return before;
  }
  const files = RUN_FILES.map((file, index) => stampAt(`${folder}/${file}`, before?.files[index]));
  // What a link leads to can appear without a change of the folder that the link is in.
  const isPlain = (file: string, index: number): boolean =>
    files[index] !== undefined || lstatOf(`${folder}/${file}`) === undefined;
  return { folder: isTelling(own) && RUN_FILES.every(isPlain) ? own : undefined, files };
}
