import { attempt } from '../expected.ts';
import { changeMark, isNamed, timeIn } from './file-stamps.ts';

/** A file that was written so shortly before it was read may be written again without its times telling. */
const SETTLED_MS = 100;
/** How many files are kept at most: more than the projects of one server ask for. */
const MOST = 1_000;

/** What was made of small files that are asked for with every call, each kept until its file has changed. */
export class KeptFiles<T> {
  readonly #kept = new Map<string, { mark: string; value: T }>();

  /** What `make` makes of a file; nothing, where there is none. */
  async read(path: string, make: () => Promise<T>): Promise<T | undefined> {
    const mark = changeMark(path);
    // Who reads it finds out what is wrong with one that is there.
    if (mark === undefined)
      return attempt(
        () => isNamed(path),
        () => true,
      )
        ? make()
        : undefined;
    const known = this.#kept.get(path);
    if (known?.mark === mark) return known.value;
    this.#kept.delete(path);
    // The mark is from before the reading: a change in between is seen the next time.
    const begun = Date.now();
    const value = await make();
    if (this.#kept.size >= MOST) this.#kept.clear();
    if (timeIn(mark) < begun - SETTLED_MS) this.#kept.set(path, { mark, value });
    return value;
  }
}
