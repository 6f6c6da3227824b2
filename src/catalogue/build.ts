import { t } from '../base/text/message.ts';
import { basename, dirname, posix } from 'node:path';
import { BmadError, ParseError, shortageIn, unlessShort } from '../base/errors.ts';
import type { BmadRecord, Problem } from '../model/record.ts';
import { type Reader, type Reading, plainlyNamed } from '../readers/reader.ts';
import { listedOnce, readsNoted, rememberingTree, type Source } from '../sources/tree.ts';
import {
  Catalogue,
  isSamePlace,
  type CatalogueParts,
  type PreparedReading,
  type Preference,
} from './catalogue.ts';
import type { KeptReadings, Noted, Understood } from './kept-readings.ts';
import { asDeclared, restoreReading } from './prepared.ts';

/** A catalogue that goes along with its files. */
export interface Content {
  catalogue: Catalogue;
  /**
   * The same with these files as they are now, read again alone; nothing else has changed. Nothing where everything has to be
   * read. `files`: which files there are is as it was, too.
   */
  renewed(changed: readonly string[], files: boolean): Promise<Content | undefined>;
}

type AllReaders = readonly Reader[] | (() => Promise<readonly Reader[]>);

interface Readable {
  source: Source;
  /** Nothing for what was read when it was built. */
  files?: readonly string[];
  noted: Noted;
}

/**
 * Runs every reader on every source. A reader that fails costs its own records and a problem, nothing else. The readers
 * are loaded only if there is something that nobody has read before.
 */
export async function openContent(
  sources: readonly Source[],
  readers: AllReaders,
  preferences: readonly Preference[] = [],
  kept?: () => Promise<KeptReadings>,
): Promise<Content> {
  const all: Readable[] = [];
  for (const source of sources) {
    const prepared = await preparedReading(source);
    if (prepared !== undefined) {
      all.push({ source, files: prepared.files, noted: { reading: prepared, reads: new Map() } });
      continue;
    }
    const read = (): Promise<Understood> => readAll(source, readers);
    const renew = (before: Noted, changed: readonly string[]): Promise<Understood | undefined> =>
      renewedReading(source, before, changed, readers);
    all.push({
      source,
      noted: kept === undefined ? await read() : await (await kept()).of(source, read, renew),
    });
  }
  return contentOf(all);

  async function contentOf(
    readables: readonly Readable[],
    before?: { catalogue: Catalogue; records: readonly BmadRecord[]; files: boolean },
  ): Promise<Content> {
    const readings = readables.map(({ noted }) => noted.reading);
    const { records, problems, overrides } = await inForce(
      readings.flatMap((reading) => reading.records),
      sources,
    );
    const parts: CatalogueParts = {
      records,
      modules: readings.flatMap(({ modules }) => modules),
      problems: [...readings.flatMap((reading) => reading.problems), ...problems],
      sources: [...sources],
      files:
        before?.files === true
          ? before.catalogue.files
          : new Map(readables.flatMap(({ source, files }) => (files === undefined ? [] : [[source, files]]))),
      preferences,
      overrides,
    };
    const catalogue = before?.catalogue.renewed(before.records, parts) ?? new Catalogue(parts);
    return {
      catalogue,
      async renewed(changed, files) {
        const next: Readable[] = [];
        for (const each of readables) {
          const { reads, places = [] } = each.noted;
          const own = changed.filter((path) => reads.has(path) || places.includes(path));
          if (own.length === 0) {
            next.push(each);
            continue;
          }
          const now = await renewedReading(each.source, each.noted, own, readers);
          if (now === undefined) return undefined;
          await (await kept?.())?.renewed(each.source, now, own);
          next.push({ ...each, noted: { ...each.noted, ...now } });
        }
        return contentOf(next, { catalogue, records, files });
      },
    };
  }
}

export async function buildCatalogue(sources: readonly Source[], readers: AllReaders): Promise<Catalogue> {
  return (await openContent(sources, readers)).catalogue;
}

const loaded = async (readers: AllReaders): Promise<readonly Reader[]> =>
  typeof readers === 'function' ? readers() : readers;

async function readAll(source: Source, readers: AllReaders): Promise<Understood> {
  const readings: Reading[] = [];
  const tree = listedOnce(source.tree);
  const reads = new Map<string, number>();
  for (const [index, reader] of (await loaded(readers)).entries()) {
    const noting = readsNoted(tree, (path) => {
      const place = tree.place(path);
      reads.set(place, (reads.get(place) ?? 0) | (1 << index));
    });
    readings.push(await readingOf({ ...source, tree: noting }, reader));
  }
  const reading = {
    records: readings.flatMap(({ records }) => records),
    modules: readings.flatMap(({ modules }) => modules),
    problems: readings.flatMap(({ problems }) => problems),
  };
  return { reading, reads };
}

/** What part of the records is read again alone. */
const SHARE = 20;

/** With the records of these files as they are now; nothing where a reader has to look at more than them. */
async function renewedReading(
  source: Source,
  { reading, reads }: Understood,
  changed: readonly string[],
  readers: AllReaders,
): Promise<Understood | undefined> {
  // Of so many, each would be looked for among all: to read them takes less.
  if (changed.length > 1 && changed.length * SHARE > reading.records.length) return undefined;
  if (changed.some((path) => !reads.has(path))) return undefined;
  const all = await loaded(readers);
  const listed = { ...source, tree: rememberingTree(listedOnce(source.tree)) };
  const now = new Map<BmadRecord, BmadRecord>();
  for (const path of changed)
    for (const [index, reader] of all.entries()) {
      if (((reads.get(path) ?? 0) & (1 << index)) === 0) continue;
      const own = recordsAt(reading, reader, path);
      if (own.length === 0) return undefined;
      for (const record of own) {
        const again = await againOf(listed, reader, record, reading);
        if (again === undefined) return undefined;
        now.set(record, again);
      }
    }
  return { reads, reading: { ...reading, records: reading.records.map((each) => now.get(each) ?? each) } };
}

/** Of a file that was at fault before, more is known than its record says. */
function recordsAt({ records, problems }: Reading, reader: Reader, path: string): BmadRecord[] {
  const [folder, beside = []] = [dirname(path), reader.beside];
  const isBeside = beside.includes(basename(path));
  const isFaulty = (main: string): boolean => {
    const files = new Set([main, ...beside.map((name) => `${posix.dirname(main)}/${name}`)]);
    return problems.some(({ file }) => files.has(file));
  };
  return records.filter(
    ({ absolutePath, generation, bmadRelativePath }) =>
      (absolutePath === path || (isBeside && dirname(absolutePath) === folder)) &&
      generation === reader.generation &&
      !isFaulty(bmadRelativePath),
  );
}

async function againOf(
  source: Source,
  reader: Reader,
  record: BmadRecord,
  reading: Reading,
): Promise<BmadRecord | undefined> {
  const found = await reader.again?.(source, record, reading).catch(unlessShort(undefined));
  if (found === undefined) return undefined;
  const { records, problems } = plainlyNamed(
    asDeclared({ records: [found], modules: [], problems: [] }, source),
  );
  const [again] = records;
  return again !== undefined && problems.length === 0 && isSamePlace(record, again) ? again : undefined;
}

/** What is built in cannot be renamed where there is nothing else. */
async function inForce(
  records: BmadRecord[],
  sources: readonly Source[],
): Promise<{ records: BmadRecord[]; problems: Problem[]; overrides: ReadonlyMap<string, string> }> {
  if (sources.every(({ origin }) => origin.kind === 'package'))
    return { records, problems: [], overrides: new Map() };
  const { namesInForce } = await import('./names-in-force.ts');
  return namesInForce(records, sources);
}

/** Even a fault in a reader costs only what that reader would have found; its text stays out of answers. */
async function readingOf(source: Source, reader: Reader): Promise<Reading> {
  try {
    return plainlyNamed(asDeclared(await reader.read(source), source));
  } catch (error) {
    if (shortageIn(error) !== undefined) throw error;
    const reason =
      error instanceof BmadError || error instanceof ParseError
        ? error.message
        : t`it failed unexpectedly (${error instanceof Error ? error.name : t`unknown`})`;
    const problem = { file: source.origin.root, message: `${reader.generation}: ${reason}` };
    return { records: [], modules: [], problems: [problem] };
  }
}

/** A prepared reading that cannot be used is skipped: the readers do the same work, only slower. */
async function preparedReading(source: Source): Promise<PreparedReading | undefined> {
  try {
    const text = await source.prepared?.();
    return text === undefined ? undefined : restoreReading(text, source);
  } catch (error) {
    return unlessShort(undefined)(error);
  }
}
