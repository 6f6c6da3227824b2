import { t } from '../base/text/message.ts';
import { ParseError } from '../base/errors.ts';
import type { Table } from '../base/parse/parse.ts';
import { lineEnd, type Made, type Removal, type Spliced, type Target } from './entries.ts';

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
  if (root.pairs === undefined) throw new ParseError(file, 1, t`it does not hold an object`);
  const holder = root.pairs.find((pair) => pair.key === key)?.node;
  if (holder === undefined)
    return inserted(text, tree, root, style, { key, value: { [name]: entry }, made: true });
  if (holder.pairs === undefined) throw new ParseError(file, undefined, t`"${key}" is not an object`);
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

/** JSON on one line, which is YAML too. */
export function oneLined(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(oneLined).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const pairs = Object.entries(value).map(([key, inner]) => `${JSON.stringify(key)}: ${oneLined(inner)}`);
  return pairs.length === 0 ? '{}' : `{ ${pairs.join(', ')} }`;
}

/**
 * JSON as hosts read it, comments and trailing commas included, with the position of everything: what is written into
 * such a file is spliced into its text, and the rest stays as it is.
 */
interface JsonNode {
  start: number;
  end: number;
  value: unknown;
  /** The pairs of an object, in order. */
  pairs?: JsonPair[];
}

interface JsonPair {
  key: string;
  /** Where the key begins. */
  start: number;
  node: JsonNode;
  /** Where the comma after the value ends, if there is one. */
  comma?: number;
}

interface JsonTree {
  /** Nothing in a file that is empty or holds only comments. */
  root: JsonNode | undefined;
  /** Where each comment begins and ends. */
  comments: { start: number; end: number }[];
}

const DEEPEST = 200;
const SPACE = new Set([' ', '\t', '\n', '\r', '\uFEFF']);

/**
 * `once` are the keys that lead to what is looked for: neither they nor any key in it may be there twice, because of two values
 * some hosts take the first, some the last, and some both. What else is in the file is its owner's business.
 */
export function jsonTree(file: string, text: string, once?: readonly string[]): JsonTree {
  const comments: JsonTree['comments'] = [];
  let at = 0;
  const fail = (reason: string, where = at): never => {
    throw new ParseError(file, text.slice(0, where).split('\n').length, reason);
  };

  function skip(): void {
    for (;;) {
      while (at < text.length && SPACE.has(text[at] ?? '') && (text[at] !== '\uFEFF' || at === 0)) at += 1;
      if (text[at] !== '/') return;
      const start = at;
      if (text[at + 1] === '/') {
        const end = /[\r\n]/g;
        end.lastIndex = at;
        at = end.exec(text)?.index ?? text.length;
      } else if (text[at + 1] === '*') {
        const end = text.indexOf('*/', at + 2);
        if (end === -1) fail(t`a comment is not closed`);
        at = end + 2;
      } else return;
      comments.push({ start, end: at });
    }
  }

  /** `way` is what is left of the keys: none of them inside what they lead to, nothing beside it. */
  function node(depth: number, way: readonly string[] | undefined): JsonNode {
    if (depth > DEEPEST) fail(t`nested too deeply`);
    const start = at;
    if (text[at] === '{') return object(start, depth, way);
    if (text[at] === '[') return list(start, depth, way?.length === 0 ? way : undefined);
    const value = text[at] === '"' ? string() : word();
    return { start, end: at, value };
  }

  function object(start: number, depth: number, way: readonly string[] | undefined): JsonNode {
    const pairs: JsonPair[] = [];
    const keys = new Set<string>();
    at += 1;
    for (;;) {
      skip();
      if (text[at] === '}') break;
      if (text[at] !== '"')
        fail(at < text.length ? t`a key in quotation marks is expected` : t`it ends too early`);
      const pair: JsonPair = { start: at, key: string(), node: { start: 0, end: 0, value: null } };
      const inner = way?.length === 0 || way?.[0] === pair.key ? way?.slice(1) : undefined;
      if (inner !== undefined && keys.has(pair.key))
        fail(t`"${pair.key.slice(0, 80)}" is there more than once`, pair.start);
      keys.add(pair.key);
      skip();
      if (text[at] !== ':') fail(t`a colon is expected after the key`);
      at += 1;
      skip();
      pair.node = node(depth + 1, inner);
      pairs.push(pair);
      skip();
      if (text[at] === ',') {
        at += 1;
        pair.comma = at;
      } else if (text[at] !== '}') fail(t`a comma or a closing brace is expected`);
    }
    at += 1;
    // A key may be "__proto__", which an object literal would take for something else.
    const value = Object.fromEntries(pairs.map(({ key, node: { value: inner } }) => [key, inner]));
    return { start, end: at, value, pairs };
  }

  function list(start: number, depth: number, way: readonly string[] | undefined): JsonNode {
    const values: unknown[] = [];
    at += 1;
    for (;;) {
      skip();
      if (text[at] === ']') break;
      values.push(node(depth + 1, way).value);
      skip();
      if (text[at] === ',') at += 1;
      else if (text[at] !== ']') fail(t`a comma or a closing bracket is expected`);
    }
    at += 1;
    return { start, end: at, value: values };
  }

  function string(): string {
    const start = at;
    for (at += 1; text[at] !== '"'; at += 1) {
      if (at >= text.length || text[at] === '\n') fail(t`a string is not closed`, start);
      if (text[at] === '\\') at += 1;
    }
    at += 1;
    return literal(start) as string;
  }

  function word(): unknown {
    const start = at;
    while (at < text.length && /[-+.\w]/.test(text[at] ?? '')) at += 1;
    if (at === start) fail(at < text.length ? t`a value is expected` : t`it ends too early`);
    return literal(start);
  }

  function literal(start: number): unknown {
    try {
      return JSON.parse(text.slice(start, at)) as unknown;
    } catch {
      return fail(t`it is not a value of JSON`, start);
    }
  }

  skip();
  if (at === text.length) return { root: undefined, comments };
  const root = node(0, once);
  skip();
  if (at < text.length) fail(t`something follows the end`);
  return { root, comments };
}
