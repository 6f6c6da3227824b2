import { forAll } from '../../base/text/message.ts';
import { breath, createCatchingUp, inTurn, mapLimited, once } from '../../base/async.ts';
import { ours } from '../../base/errors.ts';
import { jsonObject } from '../../base/parse/json.ts';
import { type Table, textField } from '../../base/parse/parse.ts';
import { readState, writeAtomic } from '../../base/files/file-state.ts';
import { modifiedInside, readInside } from '../../base/files/files.ts';
import { Keeper, type Told } from '../../base/files/keeper.ts';
import {
  isSettled,
  lstatOf,
  type Stamp,
  stampAt,
  stampOf,
  type Stats,
} from '../../base/files/file-stamps.ts';
import type { Run, RunPlace } from '../../model/run.ts';
import { latestIn, RUN_FILES, type RunName, withArtefacts, writtenRun } from './read-run.ts';
import { isEnded, runName, type RunFold, type RunLines } from './run-fold.ts';
import { listFolders, mayHoldRun } from './run-folders.ts';
import { STATE_FILE } from './state-file.ts';

/** Of more runs than this in a branch, so many that have ended are read by those who ask for the latest. */
export const ALL_READ = 200;
const SOME_READ = 40;
/** How many runs are read at once, and how many are kept at most. */
const AT_ONCE = 16;
const MOST = 50_000;
/** A state that is larger is read as a whole. */
const MOST_BYTES = 1_000_000;
/** So many that have ended take longer to read than what is kept of them. */
const KEPT_FROM = 500;
const KEPT_BYTES = 100_000_000;
/** Raised when something else is kept of them. */
const KEPT_VERSION = 2;

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
interface EndedRun {
  workflow: string | undefined;
  latest: number;
}

/** One that was looked at: nothing where it goes on, and what told so, its file. */
interface LookedAt {
  run?: EndedRun | undefined;
  stamp: Stamp;
}

/** What is known of a branch with very many runs. */
interface LargeBranch {
  /** Says which of the files of those that have ended are not as they were. */
  keeper: Keeper;
  names: readonly string[];
  /** In the order of the names. */
  runs: readonly (LookedAt | undefined)[];
  /** Those whose ids have the latest dates, and of what has ended those to which something happened last. */
  latest: readonly string[];
  last: Map<string | undefined, { id: string; run: EndedRun }>;
}

/**
 * Runs that were read before, each kept for as long as its files are as they were. Others write them too, so that they
 * are looked at each time; but of thousands, only those that have changed are read again.
 */
export class KeptRuns {
  readonly #kept = new Map<string, Known>();
  readonly #large = new Map<string, LargeBranch>();
  /** Of those that have ended, what an earlier process has kept, by their files. */
  readonly #earlier = new Map<string, LookedAt>();
  readonly #path: string | undefined;
  readonly #told: Told | undefined;
  readonly #caughtUp = createCatchingUp();
  readonly #oneByOne = inTurn();
  /** How many of those that have ended were read since this was kept on disk. */
  #unkept = 0;
  /** Takes in what an earlier process has kept. */
  readonly begin: () => Promise<void>;
  readonly #listed = new Map<string, { stamp: Stamp; names: readonly string[] }>();

  /**
   * With a path, what is known of runs that have ended is kept there for the next process. It can be removed at any time. Who
   * watches the project spares a look at each of them.
   */
  constructor(path?: string, told?: Told) {
    this.#path = path;
    this.#told = told;
    this.begin = once(() => this.#remember());
  }

  async #remember(): Promise<void> {
    if (this.#path === undefined) return;
    const text = await readState(this.#path, { maxBytes: KEPT_BYTES }).catch(() => undefined);
    const { version, ended } = jsonObject(text ?? '') ?? {};
    if (version !== KEPT_VERSION || !Array.isArray(ended)) return;
    for (const [file, known] of ended as [string, LookedAt][]) this.#earlier.set(file, known);
  }

  /** One that cannot be written costs the next process its time, and nothing else. */
  async #keep(): Promise<void> {
    if (this.#path === undefined || this.#unkept < KEPT_FROM) return;
    this.#unkept = 0;
    const all = [...this.#large].flatMap(([folder, { names, runs }]) =>
      runs.flatMap((looked, index) =>
        looked?.run === undefined ? [] : [[fileOf(folder, names[index] ?? ''), looked] as const],
      ),
    );
    const text = JSON.stringify({ version: KEPT_VERSION, ended: [...this.#earlier, ...all] });
    await writeAtomic(this.#path, text).catch(() => undefined);
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
   * Of the many runs of a branch, those to read: all that have not ended, and of the others those with the latest dates. With
   * one that has failed comes the last of its workflow, which may have replaced it, and the one that something last happened
   * to says what became of the branch.
   */
  unended(
    place: RunPlace,
    branch: string,
    names: readonly string[],
    lines: RunLines | undefined,
  ): Promise<string[]> {
    return this.#oneByOne(() => this.#unended(place, branch, names, lines));
  }

  async #unended(
    place: RunPlace,
    branch: string,
    names: readonly string[],
    lines: RunLines | undefined,
  ): Promise<string[]> {
    await this.begin();
    const folder = `${place.base}/${place.path}`;
    const before = this.#large.get(folder);
    // What does not come to its end leaves nothing that only looks as if it had been looked at.
    this.#large.delete(folder);
    const isSameList = before?.names === names;
    const { known, added } = isSameList ? { known: before.runs, added: [] } : inOrderOf(names, before);
    const { keeper, isChanged } = await this.#changedIn(before);
    const open = new Set(lines?.open().flatMap((fold) => (fold.branch === branch ? [fold.id] : [])));
    const runs: (LookedAt | undefined)[] = [];
    const left: string[] = [];
    for (const [index, id] of names.entries()) {
      if (index % SOME_READ === 0) await breath();
      let looked = known[index];
      if (open.has(id)) looked = undefined;
      else if (looked === undefined || isChanged?.(fileOf(folder, id)) === true) {
        const found = keeper.look(fileOf(folder, id));
        looked = found && (await this.#lookAt(place, id, found));
      }
      runs.push(looked);
      if (looked?.run === undefined) left.push(id);
    }
    const isSame = isSameList && runs.every((looked, index) => looked === known[index]);
    const isLonger = before !== undefined && before.names.length + added.length === names.length;
    const latest = isSameList ? before.latest : latestOf(isLonger ? [...before.latest, ...added] : names);
    const last = isSame ? before.last : lastOf(names, runs);
    this.#large.set(folder, { keeper, names, runs, latest, last });
    await this.#keep();
    const others = left.length === 0 ? [last.get(undefined)] : [...last.values()];
    return [...new Set([...latest, ...left, ...others.flatMap((each) => each?.id ?? [])])].sort();
  }

  /** Which files of those that have ended are not as they were; all of them, where nobody has looked or there are too many. */
  async #changedIn(
    before: LargeBranch | undefined,
  ): Promise<{ keeper: Keeper; isChanged?: (file: string) => boolean }> {
    if (before === undefined || before.keeper.size > MOST)
      return { keeper: new Keeper(this.#told), isChanged: () => true };
    await this.#caughtUp();
    const { keeper } = before;
    const changed = await keeper.changed();
    keeper.drop(changed);
    if (changed.length === 0) return { keeper };
    const all = new Set(changed);
    return { keeper, isChanged: (file) => all.has(file) };
  }

  /** Nothing for one whose file may change again without another stamp. */
  async #lookAt({ base, path }: RunPlace, id: string, found: Stats): Promise<LookedAt | undefined> {
    const file = fileOf(`${base}/${path}`, id);
    const known = this.#earlier.get(file);
    this.#earlier.delete(file);
    const stamp = stampOf(found, known?.stamp);
    if (known?.stamp === stamp) return known;
    if (!isSettled(stamp.ctimeMs)) return undefined;
    // It was looked at a moment ago.
    const seen = { look: () => found, find: () => found, listed: () => undefined };
    const bytes = await readInside(base, fileOf(path, id), MOST_BYTES, { seen }).catch(ours(() => ''));
    const run = endedIn(jsonObject(bytes.toString('utf8')));
    if (run !== undefined) this.#unkept += 1;
    return { run, stamp };
  }

  /** The names of the folders in a branch that may hold a run; told in `problems` is what leads elsewhere. */
  async folders({ base, path }: RunPlace, problems: string[]): Promise<readonly string[]> {
    const folder = `${base}/${path}`;
    const known = this.#listed.get(folder);
    const stamp = stampAt(folder, known?.stamp);
    if (known !== undefined && stamp === known.stamp) return known.names;
    const isKept = stamp !== undefined && isSettled(stamp.ctimeMs);
    const { names: all, plain } = await listFolders(base, path, problems);
    const names = all.filter(mayHoldRun);
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

const fileOf = (folder: string, id: string): string => `${folder}/${id}/${STATE_FILE}`;

/** What is known of those that are there still, and the names that are new. Both lists of names are in order. */
function inOrderOf(
  names: readonly string[],
  before: LargeBranch | undefined,
): { known: LargeBranch['runs']; added: readonly string[] } {
  const { names: earlier = [], runs = [] } = before ?? {};
  const added: string[] = [];
  let at = 0;
  const known = names.map((id) => {
    while (at < earlier.length && (earlier[at] ?? '') < id) at += 1;
    if (earlier[at] === id) return runs[at];
    added.push(id);
    return undefined;
  });
  return { known, added };
}

/** Which of those that have ended something last happened to, of all and of each workflow. */
function lastOf(names: readonly string[], runs: LargeBranch['runs']): LargeBranch['last'] {
  const last: LargeBranch['last'] = new Map();
  for (const [index, looked] of runs.entries()) {
    const { run } = looked ?? {};
    if (run === undefined) continue;
    const { workflow, latest } = run;
    for (const key of workflow === undefined ? [undefined] : [undefined, workflow])
      if (latest >= (last.get(key)?.run.latest ?? -Infinity)) last.set(key, { id: names[index] ?? '', run });
  }
  return last;
}

/** The names with the latest dates, in order, without putting thousands of others in order. */
function latestOf(names: readonly string[]): string[] {
  const latest: { name: string; date: string }[] = [];
  let least: string | undefined;
  for (const name of names) {
    const date = dateIn(name);
    if (least !== undefined && date <= least) continue;
    latest.push({ name, date });
    if (latest.length < 2 * SOME_READ) continue;
    latest.sort((a, b) => (a.date < b.date ? 1 : -1)).splice(SOME_READ);
    least = latest.at(-1)?.date;
  }
  latest.sort((a, b) => (a.date < b.date ? 1 : -1)).splice(SOME_READ);
  return latest.map(({ name }) => name).sort();
}

/** The moment in an id such as `prd-20260227-143022`; ids without one come last. */
function dateIn(id: string): string {
  return /\d{8}-\d{6}/.exec(id)?.[0] ?? '';
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
