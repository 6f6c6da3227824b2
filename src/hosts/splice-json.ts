import { ParseError } from '../base/expected.ts';
import type { Table } from '../base/parse/parse.ts';
import { lineEnd, type Made, type Removal, type Spliced, type Target } from './splice-parts.ts';
import { jsonTree, type JsonNode, type JsonPair, type JsonTree } from './json-tree.ts';

interface Style {
  end: string;
  unit: string;
  /** Everything on one line. */
  compact: boolean;
}

/** Puts an entry into a JSON text as its author would have written it; everything else stays as it is. */
export function spliceJson({ file, text, key, name }: Target, entry: Table): Spliced {
  const tree = jsonTree(file, text, [key, name]);
  const style = styleOf(text, tree);
  const { root } = tree;
  const whole = { [key]: { [name]: entry } };
  if (root === undefined) {
    const mark = text.startsWith('\uFEFF') ? 1 : 0;
    // Below what is there, which can only be comments.
    const at = Math.max(mark, tree.comments.at(-1)?.end ?? mark);
    const gap = at > mark ? style.end : '';
    return {
      insertions: [{ at, text: `${gap}${written(whole, style, '')}${style.end}` }],
      made: { key: true },
    };
  }
  if (root.pairs === undefined) throw new ParseError(file, 1, 'it does not hold an object');
  const holder = root.pairs.find((pair) => pair.key === key)?.node;
  if (holder === undefined)
    return inserted(text, tree, root, style, { key, value: { [name]: entry }, made: true });
  if (holder.pairs === undefined) throw new ParseError(file, undefined, `"${key}" is not an object`);
  return inserted(text, tree, holder, style, { key: name, value: entry, made: false });
}

interface NewPair {
  key: string;
  value: Table;
  /** Whether the key that holds the servers is made by it. */
  made: boolean;
}

function inserted(text: string, tree: JsonTree, object: JsonNode, style: Style, pair: NewPair): Spliced {
  const pairs = object.pairs ?? [];
  const last = pairs.at(-1);
  const close = object.end - 1;
  const indent = indentAt(text, object.start);
  const inner = last === undefined ? indent + style.unit : pairIndent(text, last, indent + style.unit);
  // Comments at the end belong to what is before them.
  const at = Math.max(
    last?.comma ?? last?.node.end ?? object.start + 1,
    lastComment(tree, object.start, close)?.end ?? 0,
  );
  const oneLine =
    style.compact || (last !== undefined && !/[\r\n]/.test(text.slice(object.start, object.end)));
  const value = oneLine ? oneLined(pair.value) : written(pair.value, style, inner);
  // Where the author ends lists with a comma, this one does as well.
  const property = `${JSON.stringify(pair.key)}: ${value}${last?.comma === undefined ? '' : ','}`;
  const hollow = last === undefined ? text.slice(object.start + 1, close) : undefined;
  const closing = last === undefined && !/[\r\n]/.test(text.slice(at, close)) ? `${style.end}${indent}` : '';
  const gap = last === undefined ? '' : ' ';
  const put = oneLine ? `${gap}${property}` : `${style.end}${inner}${property}${closing}`;
  const together = last !== undefined && last.comma === undefined && last.node.end === at;
  const comma = last !== undefined && last.comma === undefined ? [{ at: last.node.end, text: ',' }] : [];
  return {
    insertions: together ? [{ at, text: `,${put}` }] : [...comma, { at, text: put }],
    made: { key: pair.made, ...(hollow === undefined ? {} : { hollow }) },
  };
}

function lastComment(tree: JsonTree, from: number, to: number): { start: number; end: number } | undefined {
  return tree.comments.findLast(({ start, end }) => start > from && end <= to);
}

/** Takes an entry out of a JSON text, with the comma that is one too many then. */
export function cutJson({ file, text, key, name }: Target, made: Made | undefined): Removal[] {
  const tree = jsonTree(file, text, [key, name]);
  const holder = tree.root?.pairs?.find((pair) => pair.key === key);
  const object = holder?.node;
  if (tree.root === undefined || object?.pairs === undefined) return [];
  if (!object.pairs.some((pair) => pair.key === name)) return [];
  const alone = object.pairs.length === 1 && lastComment(tree, object.start, object.end) === undefined;
  if (alone && made?.key === true) return taken(text, tree, tree.root, key, made.hollow);
  return taken(text, tree, object, name, made?.key === true ? undefined : made?.hollow);
}

function taken(
  text: string,
  tree: JsonTree,
  object: JsonNode,
  key: string,
  hollow: string | undefined,
): Removal[] {
  const pairs = object.pairs ?? [];
  const index = pairs.findIndex((pair) => pair.key === key);
  const pair = pairs[index];
  if (pair === undefined) return [];
  const before = pairs[index - 1];
  const close = object.end - 1;
  const floor = before?.comma ?? before?.node.end ?? object.start + 1;
  const from = Math.max(floor, lastComment(tree, floor - 1, pair.start)?.end ?? 0);
  const to = pair.comma ?? pair.node.end;
  const left = text.slice(object.start + 1, from) + text.slice(to, close);
  const instead = hollow ?? (left.trim() === '' ? '' : undefined);
  if (pairs.length === 1 && instead !== undefined && left.trim() === instead.trim())
    return [{ from: object.start + 1, to: close, text: instead }];
  // The comma before it is needed as long as something follows, or where the author ends lists with one.
  const spare = before?.comma !== undefined && index === pairs.length - 1 && pair.comma === undefined;
  if (!spare) return [{ from, to }];
  const at = before.comma ?? 0;
  return from === at
    ? [{ from: at - 1, to }]
    : [
        { from: at - 1, to: at },
        { from, to },
      ];
}

function styleOf(text: string, { root }: JsonTree): Style {
  const first = root?.pairs?.[0];
  const indent = first === undefined ? '' : pairIndent(text, first, '');
  const compact = first !== undefined && !/[\r\n]/.test(text.slice(root?.start, root?.end));
  return { end: lineEnd(text), unit: indent === '' ? '  ' : indent, compact };
}

/** What a line begins with. */
function indentAt(text: string, at: number): string {
  const start = Math.max(text.lastIndexOf('\n', at - 1), text.lastIndexOf('\r', at - 1)) + 1;
  return /^[ \t]*/.exec(text.slice(start, at))?.[0] ?? '';
}

/** How far a pair is indented, if it begins its line. */
function pairIndent(text: string, { start }: JsonPair, otherwise: string): string {
  const line = Math.max(text.lastIndexOf('\n', start - 1), text.lastIndexOf('\r', start - 1)) + 1;
  const before = text.slice(line, start);
  return line > 0 && /^[ \t]*$/.test(before) ? before : otherwise;
}

function written(value: Table, { end, unit, compact }: Style, indent: string): string {
  if (compact) return oneLined(value);
  return JSON.stringify(value, null, unit)
    .split('\n')
    .map((line, index) => (index === 0 ? line : indent + line))
    .join(end);
}

function oneLined(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(oneLined).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const pairs = Object.entries(value).map(([key, inner]) => `${JSON.stringify(key)}: ${oneLined(inner)}`);
  return pairs.length === 0 ? '{}' : `{ ${pairs.join(', ')} }`;
}
