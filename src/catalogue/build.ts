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

/** Even a fault in a reader costs only what that reader would have found; its text stays out of answers. */
function problemOf(error: unknown, { origin }: Source, { generation }: Reader): Problem {
  // Asked for by name, because the class would bring the parsers along, which most starts do not need.
  const readable = error instanceof BmadError || (error instanceof Error && error.name === 'ParseError');
  const reason = readable
    ? error.message
    : `it failed unexpectedly (${error instanceof Error ? error.name : 'unknown'})`;
  return { file: origin.root, message: `${generation}: ${reason}` };
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
