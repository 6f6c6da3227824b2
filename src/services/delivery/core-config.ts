import { orElse, attempt } from '../../base/expected.ts';
import { isTable, parseYaml, tableOf, type Table } from '../../base/parse/parse.ts';
import type { BmadRecord } from '../../model/record.ts';

const CORE = '.bmad-core/core-config.yaml';

interface Parts {
  record: BmadRecord;
  read(path: string): Promise<string | undefined>;
}

export interface CoreConfig {
  /** The settings that a text names, one by one or as a part (`prd.*`). */
  values: [string, string][];
  /** The file, where the text sends its reader to it. */
  loaded?: string;
}

/**
 * The settings of version 4. Its texts and personas send a model to `core-config.yaml` for them; where they are given,
 * nobody has to read that file.
 */
export async function coreConfig({ record, read }: Parts, text: string): Promise<CoreConfig> {
  const [top = ''] = record.bmadRelativePath.split('/', 1);
  const none = { values: [] };
  if (!top.startsWith('.bmad-') && record.generation !== 'v4') return none;
  const own = `${top}/core-config.yaml`;
  const ofPack = await read(own);
  const file = ofPack ?? (await read(CORE));
  if (file === undefined) return none;
  const path = ofPack === undefined ? CORE : own;
  const settings = tableOf(attempt(() => parseYaml(CORE, file), orElse({})));
  const parts = [...text.matchAll(/`(\w+)\.\*`/g)].map(([, part = '']) => tableOf(settings[part]));
  const named = new Set([...(text.match(/\b[a-z]+[A-Z]\w*/g) ?? []), ...parts.flatMap(Object.keys)]);
  const all = settingsIn(settings);
  const values = all.filter(([key]) => named.has(key));
  return { values, ...(text.includes(path) ? { loaded: path } : {}) };
}

/** All settings by their own names, whatever part they are in: `qaLocation` of `qa`. */
function settingsIn(table: Table): [string, string][] {
  return Object.entries(table).flatMap(([key, value]): [string, string][] => {
    if (isTable(value)) return settingsIn(value);
    if (Array.isArray(value)) return [[key, value.filter((each) => typeof each === 'string').join(', ')]];
    return ['string', 'boolean', 'number'].includes(typeof value) ? [[key, String(value)]] : [];
  });
}
