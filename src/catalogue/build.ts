import { ParseError } from '../base/expected.ts';
import { BmadError } from '../base/errors.ts';
import { present } from '../base/present.ts';
import type { ModuleInfo } from '../model/module.ts';
import type { BmadRecord, Problem } from '../model/record.ts';
import type { Reader, Reading } from '../readers/reader.ts';
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
        const reading = asDeclared(await reader.read(source), source);
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

/** A marketplace knows the version of what it lists; it describes what does not describe itself. */
function asDeclared(reading: Reading, { declared = [] }: Source): Reading {
  if (declared.length === 0) return reading;
  const known = new Map(declared.map((module) => [module.code, module]));
  return {
    problems: reading.problems,
    modules: reading.modules.map((module) => {
      const { name = module.code, description = '', version } = known.get(module.code) ?? {};
      return present<ModuleInfo>({
        ...module,
        name: module.name === module.code ? name : module.name,
        description: module.description || description,
        version: version ?? module.version,
      });
    }),
    records: reading.records.map((record) =>
      present<BmadRecord>({
        ...record,
        moduleVersion: known.get(record.moduleName)?.version ?? record.moduleVersion,
      }),
    ),
  };
}

/** Even a fault in a reader costs only what that reader would have found; its text stays out of answers. */
function problemOf(error: unknown, { origin }: Source, { generation }: Reader): Problem {
  const reason =
    error instanceof BmadError || error instanceof ParseError
      ? error.message
      : `it failed unexpectedly (${error instanceof Error ? error.name : 'unknown'})`;
  return { file: origin.root, message: `${generation}: ${reason}` };
}

/** A prepared reading that cannot be used is skipped: the readers do the same work, only slower. */
async function preparedReading(source: Source): Promise<PreparedReading | undefined> {
  try {
    const text = await source.prepared?.();
    return text === undefined ? undefined : restoreReading(text, source);
  } catch {
    return undefined;
  }
}
