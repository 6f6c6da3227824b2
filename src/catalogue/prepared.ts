import { join } from 'node:path';
import { unlessShort } from '../base/errors.ts';
import { present } from '../base/values.ts';
import type { ModuleInfo } from '../model/module.ts';
import type { BmadRecord, Problem } from '../model/record.ts';
import type { Reader, Reading } from '../readers/reader.ts';
import type { Source } from '../sources/tree.ts';
import type { Catalogue, PreparedReading } from './catalogue.ts';

/** Where a record is and what it belongs to depend on the machine; they are restored when the text is read. */
type Stored = {
  bmadVersion: string | undefined;
  records: Omit<BmadRecord, 'origin' | 'absolutePath'>[];
  modules: Omit<ModuleInfo, 'origin'>[];
  problems: Problem[];
  files: string[];
};

export async function prepareReading(source: Source, readers: readonly Reader[]): Promise<string> {
  const stored: Stored = {
    bmadVersion: source.origin.bmadVersion,
    records: [],
    modules: [],
    problems: [],
    files: await source.tree.files(),
  };
  for (const reader of readers) {
    const { records, modules, problems } = asDeclared(await reader.read(source), source);
    stored.records.push(...records.map(({ origin: _origin, absolutePath: _path, ...record }) => record));
    stored.modules.push(...modules.map(({ origin: _origin, ...module }) => module));
    stored.problems.push(...problems);
  }
  return JSON.stringify(stored);
}

/** Restores the reading for the content's current location; undefined if the text is from another version. */
export function restoreReading(text: string, { origin, tree }: Source): PreparedReading | undefined {
  const stored = JSON.parse(text) as Stored;
  if (stored.bmadVersion !== origin.bmadVersion) return undefined;
  return {
    records: stored.records.map((record) => ({
      ...record,
      origin,
      absolutePath: join(tree.root, record.bmadRelativePath),
    })),
    modules: stored.modules.map((module) => ({ ...module, origin })),
    problems: stored.problems,
    files: stored.files,
  };
}

/** A catalogue and these built-in modules behind it; one that cannot be read is left out. */
export async function plusModules(catalogue: Catalogue, sources: readonly Source[]): Promise<Catalogue> {
  const readings = new Map<Source, PreparedReading>();
  for (const source of sources) {
    try {
      const text = await source.prepared?.();
      const reading = text === undefined ? undefined : restoreReading(text, source);
      if (reading !== undefined) readings.set(source, reading);
    } catch (error) {
      unlessShort(undefined)(error);
    }
  }
  return catalogue.plus(readings);
}

/** Whoever lists modules knows their versions, and describes what does not describe itself. */
export function asDeclared(reading: Reading, { declared = [] }: Source): Reading {
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
