import { setTimeout } from 'node:timers/promises';
import type { Places } from '../base/files/places.ts';
import type { Log } from '../base/log.ts';
import { sha256 } from '../base/sha256.ts';
import type { ModuleInfo } from '../model/module.ts';
import type { BmadRecord, Problem } from '../model/record.ts';
import type { Reading } from '../readers/reader.ts';
import type { Source } from '../sources/source.ts';
import { buildMark, MOST_FILES, type KeptFiles } from './kept-files.ts';

/** Whoever keeps readings keeps what was made of them by the same mark. */
export { buildMark, keptFiles } from './kept-files.ts';

/** To read fewer places than this takes hardly longer than to find out whether they have changed. */
export const WORTH_WRITING = 2_000;

/** By then the call that has read a source has its answer. */
const ANSWERED_MS = 250;

/** What was understood of a source, and the places it was understood from. */
interface Kept {
  paths: string[];
  stamps: number[];
  records: Omit<BmadRecord, 'origin' | 'absolutePath'>[];
  modules: Omit<ModuleInfo, 'origin'>[];
  problems: Problem[];
}

/** What this process has read, by what it was read from. */
export type KeptInMemory = Map<string, { kept: Pick<Kept, 'paths' | 'stamps'>; reading: Reading }>;

interface KeptReadingsParts {
  places: Places;
  memory: KeptInMemory;
  files: KeptFiles;
  writes: boolean;
  /** How many places a reading must have looked at to be written. */
  fromPlaces: number;
  /** The folder of what is built in: another build understands things differently. */
  builtIn: string;
  maxFileBytes: number;
  log: Log;
}

export type KeptReadings = ReturnType<typeof openKeptReadings>;

/** What became of one source. */
export interface ReadingReport {
  origin: string;
  records: number;
  places: number;
  /** Whether it was there from before, in this process or on disk. */
  restored: boolean;
  /** Whether the next process has it; what was written a moment ago is kept the next time. */
  kept: boolean;
}

/**
 * What the readers have understood of sources, as long as the places they have looked at are as they were: in memory for
 * this process, and of large sources in files for the next.
 */
export function openKeptReadings(parts: KeptReadingsParts) {
  const { places, memory, files, writes, fromPlaces, builtIn, maxFileBytes, log } = parts;
  let writing: Promise<unknown> = Promise.resolve();
  /** Somebody waits for what is to be written. */
  const wanted = new AbortController();
  const reports: ReadingReport[] = [];
  const isLarge = (used: readonly string[]): boolean => writes && used.length >= fromPlaces;

  function note(
    { origin }: Source,
    { records }: Reading,
    used: readonly string[],
    isRestored: boolean,
  ): ReadingReport {
    const report = {
      origin: origin.displayName,
      records: records.length,
      places: used.length,
      restored: isRestored,
      kept: isRestored && origin.git === undefined && isLarge(used),
    };
    reports.push(report);
    return report;
  }

  async function keyOf({ origin, tree, name, declared }: Source): Promise<string | undefined> {
    if (tree.signature === undefined) return undefined;
    const { kind, root, bmadVersion, git } = origin;
    return sha256(
      JSON.stringify([
        [await buildMark(builtIn), maxFileBytes],
        [kind, root, bmadVersion, git, name, declared, tree.signature],
      ]),
    ).slice(0, 32);
  }

  async function restored(key: string, source: Source): Promise<Reading | undefined> {
    const known = memory.get(key);
    if (known !== undefined) {
      if (await places.adopt(known.kept.paths, known.kept.stamps)) {
        note(source, known.reading, known.kept.paths, true);
        return inOrigin(known.reading, source);
      }
      memory.delete(key);
      return undefined;
    }
    const kept = parsed(await files.read(key));
    if (kept === undefined || !(await places.adopt(kept.paths, kept.stamps))) return undefined;
    const { origin, tree } = source;
    const { paths, stamps, problems } = kept;
    // They have just been parsed: nobody else has them, and copies of thousands take as long as the rest.
    const reading = {
      records: kept.records.map((record) =>
        Object.assign(record, { origin, absolutePath: tree.place(record.bmadRelativePath) }),
      ),
      modules: kept.modules.map((module) => Object.assign(module, { origin })),
      problems,
    };
    memory.set(key, { kept: { paths, stamps }, reading });
    note(source, reading, paths, true);
    return reading;
  }

  /** Keeps a reading in memory; its stamps, if the next process should have it too. */
  function remember(
    key: string,
    { origin }: Source,
    reading: Reading,
    paths: string[],
  ): number[] | undefined {
    const stamps = places.stampsOf(paths);
    if (stamps === undefined) return undefined;
    memory.delete(key);
    memory.set(key, { kept: { paths, stamps }, reading });
    for (const oldest of memory.keys()) if (memory.size > MOST_FILES) memory.delete(oldest);
    // What is of a commit is checked when it is fetched, and not by the times of its files.
    return origin.git !== undefined || !isLarge(paths) ? undefined : stamps;
  }

  async function keep(key: string, reading: Reading, paths: string[], stamps: number[]): Promise<boolean> {
    const { records, modules, problems } = reading;
    const kept: Kept = {
      paths,
      stamps,
      records: records.map(({ origin: _origin, absolutePath: _path, ...record }) => record),
      modules: modules.map(({ origin: _origin, ...module }) => module),
      problems,
    };
    return files.write(key, Buffer.from(JSON.stringify(kept)));
  }

  return {
    /** What was understood of a source before, or else what `read` understands of it now. */
    async of(source: Source, read: () => Promise<Reading>): Promise<Reading> {
      const key = await keyOf(source);
      if (key === undefined) return read();
      const known = await restored(key, source);
      if (known !== undefined) return known;
      const { result, used } = await places.collecting(read);
      const report = note(source, result, used, false);
      const stamps = remember(key, source, result, used);
      if (stamps === undefined) return result;
      // Nobody waits for it, as nobody depends on it: the call that has read all this is answered first.
      const before = writing;
      writing = (async () => {
        await Promise.all([
          before,
          setTimeout(ANSWERED_MS, undefined, { signal: wanted.signal }).catch(() => undefined),
        ]);
        report.kept = await keep(key, result, used, stamps).catch((error: unknown) => {
          log.info('catalogue cache', { error: String(error) });
          return false;
        });
      })();
      return result;
    },
    /** What became of each source, in the order they were asked for. */
    reports: (): readonly ReadingReport[] => reports,
    /** Settled when what was read last is written, or cannot be. */
    written(): Promise<unknown> {
      wanted.abort();
      return writing;
    },
  };
}

/** The records of another workspace belong to the origin of this one. */
function inOrigin(reading: Reading, { origin }: Source): Reading {
  return {
    records: reading.records.map((record) => ({ ...record, origin })),
    modules: reading.modules.map((module) => ({ ...module, origin })),
    problems: reading.problems,
  };
}

/** Its digest was right: only another program could have written anything else. */
function parsed(body: Buffer | undefined): Kept | undefined {
  try {
    return body === undefined ? undefined : (JSON.parse(body.toString('utf8')) as Kept);
  } catch {
    return undefined;
  }
}
