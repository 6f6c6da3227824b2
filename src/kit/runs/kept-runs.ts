import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { changeMark } from '../../base/files/file-stamps.ts';
import { modifiedInside } from '../../base/files/files.ts';
import type { Run, RunPlace } from '../../model/run.ts';
import { RUN_FILES, withArtefacts, writtenRun, type RunName } from './read-run.ts';

/** How many runs are looked at before others get their turn, and how many are kept at most. */
const AT_ONCE = 100;
const MOST = 50_000;

/**
 * Runs that were read before, each kept for as long as its files have the same marks. Others write them too, so that
 * they are looked at each time; but of thousands, only those that have changed are read again.
 */
export class KeptRuns {
  readonly #kept = new Map<string, { marks: string; run: Run }>();
  #looked = 0;

  /** The run in a folder; nothing where it has none of a run's files, or they lead elsewhere. */
  async read(root: string, place: RunPlace, name: RunName): Promise<Run | undefined> {
    this.#looked += 1;
    if (this.#looked % AT_ONCE === 0) await setImmediate();
    const folder = join(place.base, place.path);
    const found = RUN_FILES.map((file) => changeMark(join(folder, file)));
    if (found.every((mark) => mark === undefined)) return undefined;
    const marks = [name.id, name.branch, name.archive, ...found].join('\n');
    const known = this.#kept.get(folder);
    if (known?.marks === marks) return withArtefacts(root, known.run);
    const inside = await Promise.all(
      RUN_FILES.map((file) => modifiedInside(place.base, `${place.path}/${file}`)),
    );
    if (inside.every((time) => time === undefined)) return undefined;
    // Marks from before the reading: a change in between is seen the next time.
    const run = await writtenRun(place, name);
    if (this.#kept.size >= MOST) this.#kept.clear();
    this.#kept.set(folder, { marks, run });
    return withArtefacts(root, run);
  }
}
