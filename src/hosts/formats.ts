import { ParseError } from '../base/expected.ts';
import { isTable, parseToml, parseYaml, type Table } from '../base/parse/parse.ts';
import { jsonTree } from './json-tree.ts';
import type { Format, Made, Removal, Spliced, Target } from './splice-parts.ts';
import { cutJson, spliceJson } from './splice-json.ts';
import { cutToml, spliceToml } from './splice-toml.ts';
import { cutYaml, spliceYaml } from './splice-yaml.ts';

interface FormatDoor {
  /** The whole file as a table; nothing in it is an empty one. What the keys of `once` lead to must not be there twice. */
  read(file: string, text: string, once?: readonly string[]): Table;
  splice(target: Target, entry: Table): Spliced;
  cut(target: Target, made: Made | undefined): Removal[];
}

function table(file: string, value: unknown): Table {
  if (value === undefined || value === null) return {};
  if (isTable(value)) return value;
  throw new ParseError(file, 1, 'it does not hold a table of settings');
}

export const FORMATS: Readonly<Record<Format, FormatDoor>> = {
  json: {
    read: (file, text, once) => table(file, jsonTree(file, text, once).root?.value),
    splice: spliceJson,
    cut: cutJson,
  },
  yaml: {
    read: (file, text) => table(file, parseYaml(file, text)),
    splice: spliceYaml,
    cut: cutYaml,
  },
  toml: {
    read: (file, text) => parseToml(file, text),
    splice: spliceToml,
    cut: cutToml,
  },
};
