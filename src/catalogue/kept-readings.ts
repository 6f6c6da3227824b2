import { setTimeout } from 'node:timers/promises';
import { STAMP_WIDTH, type Keeper } from '../base/files/keeper.ts';
import type { Log } from '../base/log.ts';
import { sha256 } from '../base/values.ts';
import type { ModuleInfo } from '../model/module.ts';
import type { BmadRecord, Problem } from '../model/record.ts';
import type { Reading } from '../readers/reader.ts';
import type { Source } from '../sources/tree.ts';
import { buildMark, MOST_FILES, type DiskCache } from './disk-cache.ts';

/** Whoever keeps readings keeps what was made of them by the same mark. */
export { buildMark, diskCache } from './disk-cache.ts';

/** To read fewer places than this takes hardly longer than to find out whether they have changed. */
export const WORTH_WRITING = 200;

/** By then the call that has read a source has its answer. */
const ANSWERED_MS = 250;

/** What was understood of a source, and what it was understood from. */
export interface Understood {
  reading: Reading;
  /** The files whose content was read: which of the readers have, as bits. */
  reads: ReadonlyMap<string, number>;
}

/** The same with all places that were looked at, where somebody has noted them. */
export interface Noted extends Understood {
  places?: readonly string[];
}

/** The form in which the next process finds it. */
interface Kept {
  paths: string[];
  /** Numbers as they are in memory: to parse so many would take as long as to look at the places. */
  stamps: string;
  /** For each of the paths. */
  reads: number[];
  records: Omit<BmadRecord, 'origin' | 'absolutePath'>[];
  modules: Omit<ModuleInfo, 'origin'>[];
  problems: Problem[];
}

/** What this process has read, by what it was read from. */
export type KeptInMemory = Map<string, InMemory>;

interface InMemory extends Understood {
  places: string[];
  stamps: Float64Array;
}

interface KeptReadingsParts {
  places: Keeper;
  memory: KeptInMemory;
  files: DiskCache;
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

  /** What is known of a source from before, with the places that have changed since. */
  async function known(
    key: string,
    source: Source,
  ): Promise<{ before: InMemory; changed: string[] } | undefined> {
    const before = memory.get(key) ?? fromFile(parsed(await files.read(key)), source);
    if (before === undefined) return undefined;
    const changed = await places.adopt(before.places, before.stamps);
    return { before: { ...before, reading: inOrigin(before.reading, source) }, changed };
  }

  /** Keeps a reading in memory; its stamps, if the next process should have it too. */
  function remember(
    key: string,
    { origin }: Source,
    now: Understood,
    used: string[],
  ): Float64Array | undefined {
    const stamps = places.stampsOf(used);
    memory.delete(key);
    if (stamps === undefined) return undefined;
    memory.set(key, { ...now, places: used, stamps });
    for (const oldest of memory.keys()) if (memory.size > MOST_FILES) memory.delete(oldest);
    // What is of a commit is checked when it is fetched, and not by the times of its files.
    return origin.git !== undefined || !isLarge(used) ? undefined : stamps;
  }

  function write(
    key: string,
    now: Understood,
    used: string[],
    stamps: Float64Array,
    report: ReadingReport,
  ): void {
    // Nobody waits for it, as nobody depends on it: the call that has read all this is answered first.
    const before = writing;
    writing = (async () => {
      await Promise.all([
        before,
        setTimeout(ANSWERED_MS, undefined, { signal: wanted.signal }).catch(() => undefined),
      ]);
      report.kept = await files.write(key, Buffer.from(textOf(now, used, stamps))).catch((error: unknown) => {
        log.info('catalogue cache', { error: String(error) });
        return false;
      });
    })();
  }

  return {
    /**
     * What was understood of a source before, with what `renew` makes of the files that have changed since; or else what
     * `read` understands of it now.
     */
    async of(
      source: Source,
      read: () => Promise<Understood>,
      renew: (before: Noted, changed: readonly string[]) => Promise<Understood | undefined>,
    ): Promise<Noted> {
      const key = await keyOf(source);
      const found = key === undefined ? undefined : await known(key, source);
      const same = found?.changed.length === 0 ? found.before : undefined;
      if (same !== undefined && key !== undefined) {
        note(source, same.reading, same.places, true);
        memory.set(key, same);
        return same;
      }
      const renewed =
        found === undefined ? undefined : await places.collecting(() => renew(found.before, found.changed));
      const { result, used } =
        renewed?.result === undefined
          ? await places.collecting(read)
          : { ...renewed, result: renewed.result };
      const all =
        renewed?.result === undefined ? used : [...new Set([...(found?.before.places ?? []), ...used])];
      const report = note(source, result.reading, all, renewed?.result !== undefined);
      const stamps = key === undefined ? undefined : remember(key, source, result, all);
      if (key !== undefined && stamps !== undefined) write(key, result, all, stamps, report);
      return { ...result, places: all };
    },
    /** These of its files were read again while this process has served it. */
    async renewed(source: Source, now: Understood, changed: readonly string[]): Promise<void> {
      const key = await keyOf(source);
      const before = key === undefined ? undefined : memory.get(key);
      if (key === undefined || before === undefined) return;
      for (const path of changed) {
        const at = before.places.indexOf(path);
        // A stamp that proves nothing yet has the file read again with the next call.
        const stamp = places.stampsOf([path]) ?? new Float64Array(STAMP_WIDTH).fill(Number.NaN);
        if (at >= 0) before.stamps.set(stamp, at * STAMP_WIDTH);
      }
      memory.set(key, { ...before, ...now });
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

function textOf({ reading, reads }: Understood, paths: string[], stamps: Float64Array): string {
  const { records, modules, problems } = reading;
  const kept: Kept = {
    paths,
    stamps: Buffer.from(stamps.buffer).toString('base64'),
    reads: paths.map((path) => reads.get(path) ?? 0),
    records: records.map(({ origin: _origin, absolutePath: _path, ...record }) => record),
    modules: modules.map(({ origin: _origin, ...module }) => module),
    problems,
  };
  return JSON.stringify(kept);
}

/** They have just been parsed: nobody else has them, and copies of thousands take as long as the rest. */
function fromFile(kept: Kept | undefined, { origin, tree }: Source): InMemory | undefined {
  if (kept === undefined) return undefined;
  const { paths, stamps, reads, problems } = kept;
  return {
    places: paths,
    stamps: new Float64Array(new Uint8Array(Buffer.from(stamps, 'base64')).buffer),
    reads: new Map(paths.flatMap((path, at) => (reads[at] ? [[path, reads[at]] as const] : []))),
    reading: {
      records: kept.records.map((record) =>
        Object.assign(record, { origin, absolutePath: tree.place(record.bmadRelativePath) }),
      ),
      modules: kept.modules.map((module) => Object.assign(module, { origin })),
      problems,
    },
  };
}

/** The records of another workspace belong to the origin of this one. */
function inOrigin(reading: Reading, { origin }: Source): Reading {
  if ((reading.records[0] ?? reading.modules[0])?.origin === origin) return reading;
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
