import { t } from '../base/text/message.ts';
import { attempt, BmadError, broken, ParseError } from '../base/errors.ts';
import { isTable, parseToml, parseYaml, type Table } from '../base/parse/parse.ts';
import { SERVER_KEY } from '../base/product.ts';
import { asText, isSame, type Made, type Removal, type Spliced, type Target } from './entries.ts';
import { cutJson, jsonTree, spliceJson } from './splice-json.ts';
import { cutToml, spliceToml } from './splice-toml.ts';
import { cutYaml, spliceYaml } from './splice-yaml.ts';
import type { Entry, Format } from './table.ts';

/** A configuration file of a host, as a text. */
export interface ConfigText {
  file: string;
  text: string;
  format: Format;
  /** The key that holds the servers. */
  key: string;
}

interface Put {
  text: string;
  made: Made;
}

/** The entry under our name; undefined if there is none. Throws if the file cannot be understood. */
export function entryIn({ file, text, format, key }: ConfigText): unknown {
  const holder = readable(file, () => FORMATS[format].read(file, text, [key, SERVER_KEY]))[key];
  return isTable(holder) && Object.hasOwn(holder, SERVER_KEY) ? holder[SERVER_KEY] : undefined;
}

/** Puts our entry into a text in which it is not. The result is read again: nothing else in it may differ. */
export function put(config: ConfigText, entry: Entry): Put {
  const { file, text, format, key } = config;
  const door = FORMATS[format];
  const { insertions, made } = readable(file, () =>
    door.splice({ file, text, key, name: SERVER_KEY }, entry),
  );
  let after = text;
  for (const { at, text: piece } of insertions.toReversed())
    after = after.slice(0, at) + piece + after.slice(at);
  compare(config, after, entry);
  return { text: after, made };
}

/** Takes our entry out of a text that may have changed since it was put in. */
export function cut(config: ConfigText, made: Made | undefined): string {
  const { file, text, format, key } = config;
  const removals = readable(file, () => FORMATS[format].cut({ file, text, key, name: SERVER_KEY }, made));
  let after = text;
  for (const { from, to, text: instead = '' } of removals.toReversed())
    after = after.slice(0, from) + instead + after.slice(to);
  compare({ ...config, text: after }, text, undefined);
  return after;
}

/** Whether the file holds nothing at all any more. */
export function isEmpty({ file, text, format }: ConfigText): boolean {
  const left = format === 'json' ? text.replace(/[{}]/g, '') : text;
  if (left.replace(/^\uFEFF/, '').trim() !== '') return false;
  return Object.keys(readable(file, () => FORMATS[format].read(file, text))).length === 0;
}

/** Refuses if two texts differ in more than our entry, in a value or in the order of keys, or if it is there twice. */
function compare({ file, text, format, key }: ConfigText, withEntry: string, entry: Entry | undefined): void {
  const door = FORMATS[format];
  const own = attempt(
    () => door.read(file, withEntry, [key, SERVER_KEY]),
    broken(() => undefined),
  );
  const other = attempt(
    () => door.read(file, text),
    broken(() => undefined),
  );
  const same =
    own !== undefined &&
    other !== undefined &&
    asText(without(own, key)) === asText(without(other, key)) &&
    (entry === undefined || isSame(inside(own, key), entry));
  if (same) return;
  throw new BmadError(
    'conflict',
    t`${file} is written in a way that cannot be changed safely; it is unchanged.`,
    {
      subject: file,
      hint: t`Change it by hand.`,
    },
  );
}

function inside(table: Table, key: string): unknown {
  const holder = table[key];
  return isTable(holder) ? holder[SERVER_KEY] : undefined;
}

/** Without our entry, and without a key for servers that holds none. */
function without(table: Table, key: string): Table {
  const entries = Object.entries(table).flatMap(([name, value]): [string, unknown][] => {
    if (name !== key) return [[name, value]];
    if (value === null) return [];
    if (!isTable(value)) return [[name, value]];
    const rest = Object.entries(value).filter(([server]) => server !== SERVER_KEY);
    return rest.length === 0 ? [] : [[name, Object.fromEntries(rest)]];
  });
  return Object.fromEntries(entries);
}

/** The error for a file that cannot be parsed. */
function readable<T>(file: string, work: () => T): T {
  return attempt(
    work,
    broken(({ message, line }) => {
      const reason = message.replace(`${file}${line === undefined ? '' : `:${line}`}: `, '');
      const where = line === undefined ? '' : t`line ${line}: `;
      throw new BmadError('conflict', t`${file} cannot be understood (${where}${reason}); it is unchanged.`, {
        subject: file,
        hint: t`Correct the file, or change it by hand.`,
      });
    }, file),
  );
}

interface FormatDoor {
  /** The whole file as a table; nothing in it is an empty one. What the keys of `once` lead to must not be there twice. */
  read(file: string, text: string, once?: readonly string[]): Table;
  splice(target: Target, entry: Table): Spliced;
  cut(target: Target, made: Made | undefined): Removal[];
}

function settingsIn(file: string, value: unknown): Table {
  if (value === undefined || value === null) return {};
  if (isTable(value)) return value;
  throw new ParseError(file, 1, t`it does not hold a table of settings`);
}

export const FORMATS: Readonly<Record<Format, FormatDoor>> = {
  json: {
    read: (file, text, once) => settingsIn(file, jsonTree(file, text, once).root?.value),
    splice: spliceJson,
    cut: cutJson,
  },
  yaml: {
    read: (file, text) => settingsIn(file, parseYaml(file, text)),
    splice: spliceYaml,
    cut: cutYaml,
  },
  toml: {
    read: (file, text) => parseToml(file, text),
    splice: spliceToml,
    cut: cutToml,
  },
};
