import { BmadError } from '../base/errors.ts';
import type { Reader } from '../readers/reader.ts';
import type { Source } from '../sources/source.ts';
import { Catalogue } from './catalogue.ts';

/** Runs every reader on every source. A reader that fails costs its own records and a problem, nothing else. */
export async function buildCatalogue(
  sources: readonly Source[],
  readers: readonly Reader[],
): Promise<Catalogue> {
  const parts = { records: [], modules: [], problems: [], sources: [...sources] } as ConstructorParameters<
    typeof Catalogue
  >[0];
  for (const source of sources) {
    for (const reader of readers) {
      try {
        const reading = await reader.read(source);
        parts.records.push(...reading.records);
        parts.modules.push(...reading.modules);
        parts.problems.push(...reading.problems);
      } catch (error) {
        if (!(error instanceof BmadError)) throw error;
        parts.problems.push({ file: source.origin.root, message: `${reader.generation}: ${error.message}` });
      }
    }
  }
  return new Catalogue(parts);
}
