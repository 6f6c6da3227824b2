import { attempt, expected } from '../../base/expected.ts';
import { field, parseToml, tableOf } from '../../base/parse/parse.ts';
import { optionalText, type Tree } from '../../sources/tree.ts';

/** One layer's say in a merged value. */
export interface LayerValue {
  file: string;
  line: number | undefined;
  value: unknown;
}

/** What each TOML file says about a dotted key, the weakest first; files that do not name it are left out. */
export async function layerValues(
  layers: readonly { tree: Tree; file: string; shown: string }[],
  key: string,
): Promise<LayerValue[]> {
  const found: LayerValue[] = [];
  for (const { tree, file, shown } of layers) {
    const text = (await optionalText(tree, file).catch(expected(() => ''))) ?? '';
    const table: unknown = attempt(
      () => parseToml(file, text),
      expected(() => ({})),
    );
    const value = key.split('.').reduce((at, part) => field(tableOf(at), part), table);
    if (value !== undefined) found.push({ file: shown, line: lineOfKey(text, key), value });
  }
  return found;
}

/** The line on which a key is set, or on which the first table of a list begins. */
function lineOfKey(text: string, key: string): number | undefined {
  const parts = key.split('.');
  let table = '';
  for (const [index, line] of text.split('\n').entries()) {
    const header = /^\s*\[{1,2}\s*([^\]]+?)\s*\]{1,2}/.exec(line)?.[1];
    if (header !== undefined) {
      table = header.replaceAll(/["'\s]/g, '');
      if (table === key) return index + 1;
      continue;
    }
    const name = /^\s*["']?([\w.-]+)["']?\s*=/.exec(line)?.[1];
    if (name === undefined) continue;
    const full = table === '' ? name : `${table}.${name}`;
    if (full === key || (parts.length === 1 && name === key)) return index + 1;
  }
  return undefined;
}
