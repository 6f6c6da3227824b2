import { ParseError } from '../../base/expected.ts';
import { BmadError } from '../../base/errors.ts';
import { parseToml, type Table } from '../../base/parse/parse.ts';
import type { Problem } from '../../model/record.ts';
import { optionalText, type Tree } from '../../sources/tree.ts';
import { MergeError, structuralMerge } from './merge.ts';

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
