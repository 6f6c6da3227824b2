import { present } from '../base/values.ts';
import type { ModuleInfo } from '../model/module.ts';
import type { BmadRecord } from '../model/record.ts';
import type { Reading } from '../readers/reader.ts';
import type { Source } from '../sources/tree.ts';

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
