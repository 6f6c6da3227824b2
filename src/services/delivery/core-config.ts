import { orElse, attempt } from '../../base/expected.ts';
import { isTable, parseYaml, tableOf, type Table } from '../../base/parse/parse.ts';
import type { BmadRecord } from '../../model/record.ts';

const CORE = '.bmad-core/core-config.yaml';

interface Parts {
  record: BmadRecord;
  read(path: string): Promise<string | undefined>;
}

/**
 * The settings of version 4 that a text names, one by one or as a part (`prd.*`). Its texts and personas send a model to
 * `core-config.yaml` for them; where they are given, nobody has to read that file.
 */
export async function coreConfigValues({ record, read }: Parts, text: string): Promise<[string, string][]> {
  const [top = ''] = record.bmadRelativePath.split('/', 1);
  if (!top.startsWith('.bmad-') && record.generation !== 'v4') return [];
  const file = (await read(`${top}/core-config.yaml`)) ?? (await read(CORE));
  if (file === undefined) return [];
  const settings = tableOf(attempt(() => parseYaml(CORE, file), orElse({})));
  const parts = [...text.matchAll(/`(\w+)\.\*`/g)].map(([, part = '']) => tableOf(settings[part]));
  const named = new Set([...(text.match(/\b[a-z]+[A-Z]\w*/g) ?? []), ...parts.flatMap(Object.keys)]);
  return settingsIn(settings).filter(([key]) => named.has(key));
}

/** All settings by their own names, whatever part they are in: `qaLocation` of `qa`. */
function settingsIn(table: Table): [string, string][] {
  return Object.entries(table).flatMap(([key, value]): [string, string][] => {
    if (isTable(value)) return settingsIn(value);
    if (Array.isArray(value)) return [[key, value.filter((each) => typeof each === 'string').join(', ')]];
    return typeof value === 'string' || typeof value === 'boolean' ? [[key, String(value)]] : [];
  });
}
