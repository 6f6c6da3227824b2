import { t } from '../base/text/message.ts';
import { withoutHidden } from '../base/text/hidden.ts';
import type { ModuleInfo } from '../model/module.ts';
import type { BmadRecord, Problem } from '../model/record.ts';
import type { Reading } from '../readers/reader.ts';

/** What people and models choose by: nothing in it may be read that is not seen. The files themselves stay as they are. */
const NAMES = ['moduleName', 'name', 'displayName', 'title', 'icon', 'phase', 'description'] as const;

/** A reading whose names and descriptions have nothing hidden in them; each record tells what was taken out. */
export function plainlyNamed(reading: Reading): Reading {
  const problems: Problem[] = [];
  const records = reading.records.flatMap((record) => {
    const plain = plainRecord(record);
    if (plain.name.trim() !== '') return [plain];
    problems.push({ file: record.bmadRelativePath, message: t`its name has hidden characters only` });
    return [];
  });
  return {
    records,
    modules: reading.modules.map(plainModule),
    problems: [...reading.problems, ...problems],
  };
}

function plainRecord(record: BmadRecord): BmadRecord {
  const changed = NAMES.filter((key) => {
    const text = record[key];
    return text !== undefined && withoutHidden(text) !== text;
  });
  const aliases = record.aliases.map(withoutHidden);
  const same = aliases.every((alias, index) => alias === record.aliases[index]);
  const details = record.details === undefined ? undefined : plainTexts(record.details);
  if (changed.length === 0 && same) return details === undefined ? record : { ...record, details };
  return {
    ...record,
    ...(details === undefined ? {} : { details }),
    ...Object.fromEntries(changed.map((key) => [key, withoutHidden(record[key] ?? '')])),
    aliases: aliases.filter((alias) => alias !== ''),
    disguised: [...changed, ...(same ? [] : ['aliases'])],
  };
}

function plainModule(module: ModuleInfo): ModuleInfo {
  const { origin, settings, ...named } = module;
  return { ...plainTexts(named), origin, settings };
}

/** Rosters and help are names and descriptions through and through. */
export function plainTexts<T>(value: T): T;
export function plainTexts(value: unknown): unknown {
  if (typeof value === 'string') return withoutHidden(value);
  if (Array.isArray(value)) return value.map((item: unknown) => plainTexts(item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plainTexts<unknown>(item)]));
}
