import { isMap, isPair, isScalar, isSeq } from 'yaml';
import { guarded, withoutBom } from './parse.ts';
import { composedYaml } from './yaml-document.ts';

type YamlScalar = string | number | boolean | null;

/** One pair of a YAML mapping and its position in the text: edits by position leave the rest unchanged. */
export interface YamlPair {
  key: string;
  /** Line of the key, the first being 1. */
  line: number;
  /** Where the key begins. */
  at: number;
  /** A text, number and the like; nothing for a mapping, a list or a pair without a value. */
  value: YamlScalar | undefined;
  /** Where such a value can be replaced, its quotation marks included; nothing when it cannot be with safety. */
  place: { start: number; end: number; quote: '' | '"' | "'"; gap: string } | undefined;
  /** The pairs of a mapping. */
  pairs: YamlPair[];
  /** The pairs of each entry of a list of mappings. */
  items: YamlPair[][];
  /** The plain entries of a list. */
  list: YamlScalar[];
}

/** The pairs of a mapping with their positions, duplicate keys included; undefined if the text is not a mapping. */
export function yamlPairs(file: string, text: string): YamlPair[] | undefined {
  return guarded(file, () => {
    const clean = withoutBom(text);
    const lines = lineStarts(clean);
    const { document } = composedYaml(file, clean, 'kept');
    const shift = text.length - clean.length;
    return isMap(document?.contents) ? pairsOf(document.contents.items, { clean, lines, shift }) : undefined;
  });
}

interface Places {
  clean: string;
  lines: readonly number[];
  /** The byte order mark that was taken off. */
  shift: number;
}

function pairsOf(items: readonly unknown[], places: Places): YamlPair[] {
  return items.flatMap((item) => {
    if (!isPair(item) || !isScalar(item.key) || !item.key.range) return [];
    const { key, value } = item;
    const [at, keyEnd] = key.range ?? [0, 0];
    const list = isSeq(value) ? value.items : [];
    return [
      {
        key: String(plain(key.value)),
        line: lineOf(places.lines, at),
        at: at + places.shift,
        value: isScalar(value) ? plain(value.value) : undefined,
        place: placeOf(value, keyEnd, places),
        pairs: isMap(value) ? pairsOf(value.items, places) : [],
        items: list.flatMap((entry) => (isMap(entry) ? [pairsOf(entry.items, places)] : [])),
        list: list.flatMap((entry) => (isScalar(entry) ? [plain(entry.value)] : [])),
      },
    ];
  });
}

/** Values of other types come from tags, which ledgers do not have; as text they are not a status of any kind. */
function plain(value: unknown): YamlScalar {
  return typeof value === 'string' ||
    typeof value === 'number' ||
    typeof value === 'boolean' ||
    value === null
    ? value
    : typeof value;
}

function placeOf(value: unknown, keyEnd: number, { clean, shift }: Places): YamlPair['place'] {
  if (!isScalar(value) || value.anchor !== undefined || value.tag !== undefined) return undefined;
  const [start = 0, end = 0] = value.range ?? [];
  const source = clean.slice(start, end);
  if (source === '') {
    const colon = clean.indexOf(':', keyEnd) + 1;
    return colon === 0 ? undefined : { start: colon + shift, end: colon + shift, quote: '', gap: ' ' };
  }
  const quote = source.startsWith('"') ? '"' : source.startsWith("'") ? "'" : '';
  if (/[\r\n]/.test(source) || /^[|>]/.test(source)) return undefined;
  return { start: start + shift, end: end + shift, quote, gap: '' };
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

/** The number of the line that has this offset, the first being 1. */
function lineOf(starts: readonly number[], offset: number): number {
  let [low, high] = [0, starts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle + 1;
    else high = middle;
  }
  return low;
}
