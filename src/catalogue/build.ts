import { ParseError, unlessShort } from '../base/expected.ts';
import { BmadError, shortageIn } from '../base/errors.ts';
import type { BmadRecord, Problem } from '../model/record.ts';
import type { Reader, Reading } from '../readers/reader.ts';
import type { Source } from '../sources/source.ts';
import { listedOnce } from '../sources/tree.ts';
import { Catalogue } from './catalogue.ts';
import { asDeclared } from './declared.ts';
import type { KeptReadings } from './kept-readings.ts';
import { plainlyNamed } from './plain-names.ts';
import type { Preference } from './preferences.ts';
import { restoreReading, type PreparedReading } from './prepared.ts';

/**
 * Runs every reader on every source. A reader that fails costs its own records and a problem, nothing else. The readers
 * are loaded only if there is something that nobody has read before.
 */
export async function buildCatalogue(
  sources: readonly Source[],
  readers: readonly Reader[] | (() => Promise<readonly Reader[]>),
  preferences: readonly Preference[] = [],
  kept?: () => Promise<KeptReadings>,
): Promise<Catalogue> {
  const readings: Reading[] = [];
  const files = new Map<Source, readonly string[]>();
  for (const source of sources) {
    const prepared = await preparedReading(source);
    if (prepared !== undefined) {
      readings.push(prepared);
      files.set(source, prepared.files);
      continue;
    }
    const read = (): Promise<Reading> => readAll(source, readers);
    readings.push(kept === undefined ? await read() : await (await kept()).of(source, read));
  }
  const read = readings.flatMap(({ records }) => records);
  const { records, problems, overrides } = await inForce(read, sources);
  return new Catalogue({
    records,
    modules: readings.flatMap(({ modules }) => modules),
    problems: [...readings.flatMap((reading) => reading.problems), ...problems],
    sources: [...sources],
    files,
    preferences,
    overrides,
  });
}

async function readAll(
  source: Source,
  readers: readonly Reader[] | (() => Promise<readonly Reader[]>),
): Promise<Reading> {
  const all = typeof readers === 'function' ? await readers() : readers;
  const readings: Reading[] = [];
  const listed = { ...source, tree: listedOnce(source.tree) };
  for (const reader of all) readings.push(await readingOf(listed, reader));
  return {
    records: readings.flatMap(({ records }) => records),
    modules: readings.flatMap(({ modules }) => modules),
    problems: readings.flatMap(({ problems }) => problems),
  };
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
        : `it failed unexpectedly (${error instanceof Error ? error.name : 'unknown'})`;
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
