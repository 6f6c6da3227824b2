import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { ModuleInfo } from '../../model/module.ts';
import { isListed, type BmadRecord } from '../../model/record.ts';

/**
 * How important the manifests declare something to be, 0 to 100. BMAD's files have no number for it, so it is read from
 * what they do say: an old name counts nothing; then comes what no manifest lists, what one lists, what the module's help
 * or roster presents, and what the help calls required.
 */
export function manifestPriority(record: BmadRecord, module: ModuleInfo | undefined): number {
  if (!isListed(record) || !record.exists) return 0;
  const rows = module?.help.filter((row) => row.skill === record.name) ?? [];
  if (rows.some((row) => row.required)) return 100;
  const presented = rows.length > 0 || module?.roster.some(({ code }) => code === record.name) === true;
  if (presented) return 75;
  return record.status === 'verified' ? 50 : 25;
}

/** The same for all records of a catalogue; each is computed one time. */
export function manifestPriorities({ modules }: Catalogue): (record: BmadRecord) => number {
  const byCode = new Map(modules.map((module) => [module.code, module]));
  const known = new WeakMap<BmadRecord, number>();
  return (record) => {
    const priority = known.get(record) ?? manifestPriority(record, byCode.get(record.moduleName));
    known.set(record, priority);
    return priority;
  };
}
