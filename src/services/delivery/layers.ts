import { ParseError } from '../../base/expected.ts';
import { BmadError } from '../../base/errors.ts';
import { isTable, parseToml, type Table } from '../../base/parse/parse.ts';
import type { Problem } from '../../model/record.ts';
import { optionalText, type Tree } from '../../sources/tree.ts';

export interface Layered {
  values: Table;
  /** The files that contributed, the weakest first. */
  files: string[];
  problems: Problem[];
}

/** Puts TOML files on top of `base`, in order. A layer that cannot be used is left out and reported. */
export async function applyLayers(
  base: Table,
  tree: Tree | undefined,
  paths: readonly string[],
): Promise<Layered> {
  const layered: Layered = { values: base, files: [], problems: [] };
  if (tree === undefined) return layered;
  for (const path of paths) {
    try {
      const text = await optionalText(tree, path);
      if (text === undefined) continue;
      layered.values = structuralMerge(layered.values, parseToml(`_bmad/${path}`, text)) as Table;
      layered.files.push(path);
    } catch (error) {
      if (!(error instanceof ParseError || error instanceof BmadError || error instanceof MergeError))
        throw error;
      layered.problems.push({ file: `_bmad/${path}`, message: error.message });
    }
  }
  return layered;
}

/** An override that BMAD's own resolver refuses. */
export class MergeError extends Error {
  override readonly name = 'MergeError';
}

/**
 * BMAD's structural merge: tables merge key by key; lists whose items are all tables with a `code` (else an `id`)
 * replace by that key and append what is new; other lists append; anything else is replaced.
 */
export function structuralMerge(base: unknown, override: unknown): unknown {
  if (isTable(base) && isTable(override)) {
    const result = new Map(Object.entries(base));
    for (const [key, value] of Object.entries(override)) {
      result.set(key, result.has(key) ? structuralMerge(result.get(key), value) : value);
    }
    return Object.fromEntries(result);
  }
  if (Array.isArray(base) && Array.isArray(override)) return mergeLists(base, override);
  return override;
}

function mergeLists(base: readonly unknown[], override: readonly unknown[]): unknown[] {
  const key = identifyingKey([...base, ...override]);
  if (key === undefined) return [...base, ...override];
  const merged = [...(base as Table[])];
  const position = new Map(merged.map((item, index) => [item[key], index]));
  for (const item of override as Table[]) {
    const at = position.get(item[key]);
    if (at === undefined) position.set(item[key], merged.push(item) - 1);
    else merged[at] = item;
  }
  return merged;
}

function identifyingKey(items: readonly unknown[]): string | undefined {
  if (items.length === 0 || !items.every(isTable)) return undefined;
  for (const key of ['code', 'id']) {
    if (!items.every((item) => Object.hasOwn(item, key))) continue;
    for (const item of items) {
      if (typeof item[key] !== 'string' || item[key] === '') {
        throw new MergeError(`the "${key}" of each entry in a list of tables must be a non-empty string`);
      }
    }
    return key;
  }
  return undefined;
}
