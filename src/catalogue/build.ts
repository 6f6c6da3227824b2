import { BmadError } from '../base/errors.ts';
import type { Problem } from '../model/record.ts';
import type { Reader } from '../readers/reader.ts';
import type { Source } from '../sources/source.ts';
import { Catalogue } from './catalogue.ts';
import { restoreReading, type PreparedReading } from './prepared.ts';

/** Runs every reader on every source. A reader that fails costs its own records and a problem, nothing else. */
export async function buildCatalogue(
  sources: readonly Source[],
  readers: readonly Reader[],
): Promise<Catalogue> {
  const parts = {
    records: [],
    modules: [],
    problems: [],
    sources: [...sources],
    files: new Map(),
  } as ConstructorParameters<typeof Catalogue>[0];
  for (const source of sources) {
    const prepared = await preparedReading(source);
    if (prepared !== undefined) {
      parts.records.push(...prepared.records);
      parts.modules.push(...prepared.modules);
      parts.problems.push(...prepared.problems);
      parts.files.set(source, prepared.files);
      continue;
    }
    for (const reader of readers) {
      try {
        const reading = await reader.read(source);
        parts.records.push(...reading.records);
        parts.modules.push(...reading.modules);
        parts.problems.push(...reading.problems);
      } catch (error) {
        parts.problems.push(problemOf(error, source, reader));
      }
    }
  }
  return new Catalogue(parts);
}

/** What a reader could not read. Anything else it throws is a fault of the reader and must not be hidden. */
function problemOf(error: unknown, { origin }: Source, { generation }: Reader): Problem {
  const unreadable = error instanceof BmadError || (error instanceof Error && error.name === 'ParseError');
  if (!unreadable) throw error;
  return { file: origin.root, message: `${generation}: ${error.message}` };
}

/** A prepared reading that cannot be used is passed over: the readers do the same work, only slower. */
async function preparedReading(source: Source): Promise<PreparedReading | undefined> {
  try {
    const text = await source.prepared?.();
    return text === undefined ? undefined : restoreReading(text, source);
  } catch {
    return undefined;
  }
}
