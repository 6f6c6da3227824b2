import { ParseError } from '../base/expected.ts';

/**
 * JSON as hosts read it, comments and trailing commas included, with the position of everything: what is written into
 * such a file is spliced into its text, and the rest stays as it is.
 */
export interface JsonNode {
  start: number;
  end: number;
  value: unknown;
  /** The pairs of an object, in order. */
  pairs?: JsonPair[];
}

export interface JsonPair {
  key: string;
  /** Where the key begins. */
  start: number;
  node: JsonNode;
  /** Where the comma after the value ends, if there is one. */
  comma?: number;
}

export interface JsonTree {
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
        if (end === -1) fail('a comment is not closed');
        at = end + 2;
      } else return;
      comments.push({ start, end: at });
    }
  }

  /** `way` is what is left of the keys: none of them inside what they lead to, nothing beside it. */
  function node(depth: number, way: readonly string[] | undefined): JsonNode {
    if (depth > DEEPEST) fail('nested too deeply');
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
        fail(at < text.length ? 'a key in quotation marks is expected' : 'it ends too early');
      const pair: JsonPair = { start: at, key: string(), node: { start: 0, end: 0, value: null } };
      const inner = way?.length === 0 || way?.[0] === pair.key ? way?.slice(1) : undefined;
      if (inner !== undefined && keys.has(pair.key))
        fail(`"${pair.key.slice(0, 80)}" is there more than once`, pair.start);
      keys.add(pair.key);
      skip();
      if (text[at] !== ':') fail('a colon is expected after the key');
      at += 1;
      skip();
      pair.node = node(depth + 1, inner);
      pairs.push(pair);
      skip();
      if (text[at] === ',') {
        at += 1;
        pair.comma = at;
      } else if (text[at] !== '}') fail('a comma or a closing brace is expected');
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
      else if (text[at] !== ']') fail('a comma or a closing bracket is expected');
    }
    at += 1;
    return { start, end: at, value: values };
  }

  function string(): string {
    const start = at;
    for (at += 1; text[at] !== '"'; at += 1) {
      if (at >= text.length || text[at] === '\n') fail('a string is not closed', start);
      if (text[at] === '\\') at += 1;
    }
    at += 1;
    return literal(start) as string;
  }

  function word(): unknown {
    const start = at;
    while (at < text.length && /[-+.\w]/.test(text[at] ?? '')) at += 1;
    if (at === start) fail(at < text.length ? 'a value is expected' : 'it ends too early');
    return literal(start);
  }

  function literal(start: number): unknown {
    try {
      return JSON.parse(text.slice(start, at)) as unknown;
    } catch {
      return fail('it is not a value of JSON', start);
    }
  }

  skip();
  if (at === text.length) return { root: undefined, comments };
  const root = node(0, once);
  skip();
  if (at < text.length) fail('something follows the end');
  return { root, comments };
}
