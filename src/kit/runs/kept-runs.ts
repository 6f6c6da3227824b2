import { mapLimited } from '../../base/async.ts';
import { modifiedInside } from '../../base/files/files.ts';
import { breath } from '../../base/pace.ts';
import { isSettled, lstatOf, stampAt, type Stamp } from '../../base/files/place-stats.ts';
import type { Run, RunPlace } from '../../model/run.ts';
import { RUN_FILES, withArtefacts, writtenRun, type RunName } from './read-run.ts';
import { listFolders } from './run-folders.ts';

/** How many runs are read at once, and how many are kept at most. */
const AT_ONCE = 16;
const MOST = 50_000;

/** What tells of a change: the folder of a run, and its files that were there. */
interface Stamps {
  /** Nothing where it does not yet tell whether a file has been added. */
  folder: Stamp | undefined;
  files: readonly (Stamp | undefined)[];
}

interface Known {
  name: RunName;
  stamps: Stamps;
  run: Run;
}

/**
 * Runs that were read before, each kept for as long as its files are as they were. Others write them too, so that they
 * are looked at each time; but of thousands, only those that have changed are read again.
 */
export class KeptRuns {
  readonly #kept = new Map<string, Known>();
  readonly #listed = new Map<string, { stamp: Stamp; names: readonly string[] }>();

  /** The run in a folder; nothing where it has none of a run's files, or they lead elsewhere. */
  async read(root: string, place: RunPlace, name: RunName): Promise<Run | undefined> {
    const known = this.#asBefore(place, name);
    return known === undefined ? this.#read(root, place, name) : withFiles(root, known);
  }

  /** Those of many, in their order. */
  async readMany(root: string, named: readonly (readonly [RunName, RunPlace])[]): Promise<Run[]> {
    const found: (Run | undefined)[] = [];
    const open: number[] = [];
    for (const [index, [name, place]] of named.entries()) {
      await breath();
      const run = this.#asBefore(place, name);
      found.push(run);
      if (run === undefined || hasFiles(run)) open.push(index);
    }
    await mapLimited(open, AT_ONCE, async (index) => {
      const [name, place] = named[index] as (typeof named)[number];
      const known = found[index];
      found[index] = await (known === undefined ? this.#read(root, place, name) : withFiles(root, known));
    });
    return found.filter((run) => run !== undefined);
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
  #asBefore(place: RunPlace, name: RunName): Run | undefined {
    const folder = `${place.base}/${place.path}`;
    const known = this.#kept.get(folder);
    if (known === undefined || !isSameName(known.name, name)) return undefined;
    const { stamps } = known;
    const now = stampsIn(folder, stamps);
    if (now !== stamps && now.files.some((stamp, index) => stamp !== stamps.files[index])) return undefined;
    known.stamps = now;
    return known.run;
  }

  async #read(root: string, place: RunPlace, name: RunName): Promise<Run | undefined> {
    // Stamps from before the reading: a change in between is seen the next time.
    const folder = `${place.base}/${place.path}`;
    const stamps = stampsIn(folder);
    // What was written just now may be written again without another stamp, however long it takes to read it.
    const isKept = stamps.files.every(isTelling);
    const there = RUN_FILES.filter((_, index) => stamps.files[index] !== undefined);
    const inside = await Promise.all(
      there.map((file) => modifiedInside(place.base, `${place.path}/${file}`)),
    );
    if (inside.every((time) => time === undefined)) return undefined;
    const run = await writtenRun(place, name, there);
    if (this.#kept.size >= MOST) this.#kept.clear();
    if (isKept) this.#kept.set(folder, { name, stamps, run });
    else this.#kept.delete(folder);
    return withFiles(root, run);
  }
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
