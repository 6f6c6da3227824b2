import type { Language, Node, Parser, Query } from 'web-tree-sitter';
import table from '../../../assets/code/definitions.json' with { type: 'json' };
import languages from '../../../assets/code/languages.json' with { type: 'json' };
import { BmadError, quoted } from '../../base/errors.ts';
import { optionalFile, optionalPackage } from '../../base/process/process.ts';
import { fenceFollower, headingIn } from '../../base/text/markdown.ts';
import { t } from '../../base/text/message.ts';
import { nearest } from '../../base/text/suggest.ts';

/** What a grammar calls the things worth finding: node types, or whole patterns, by the kind that answers show. */
type Kinds = Readonly<Record<string, readonly string[]>>;

interface Definitions {
  /** File of the grammar. */
  grammar: string;
  kinds: Kinds;
}

/** Kinds that contain others: their members are separate pieces. */
const CONTAINERS = new Set(['class', 'interface', 'module', 'trait', 'struct']);

/** By language; `tsx` is a language here because the file's extension selects its grammar. */
const KINDS: Readonly<Record<string, Kinds>> = table.kinds;

/** Languages whose definitions are those of another. */
const SAME_AS: Readonly<Record<string, string>> = table.as;

/** Grammars that are not called like their language. */
const GRAMMARS: Readonly<Record<string, string>> = table.grammars;

function definitionsFor(language: string, path: string): Definitions | undefined {
  const key = /\.[tj]sx$/i.test(path) && language === 'typescript' ? 'tsx' : language;
  const kinds = KINDS[SAME_AS[key] ?? key];
  return kinds === undefined ? undefined : { grammar: GRAMMARS[key] ?? key, kinds };
}

/** All kinds as one query: a bare node type is captured under the name of its kind. */
function queryText({ kinds }: Definitions): string {
  return Object.entries(kinds)
    .flatMap(([kind, patterns]) =>
      patterns.map((pattern) => (pattern.startsWith('(') ? pattern : `(${pattern}) @${kind}`)),
    )
    .join('\n');
}

/** A function, class or the like, by lines counted from 0, both included. */
interface Definition {
  kind: string;
  name: string;
  start: number;
  end: number;
}

export type Grammars = ReturnType<typeof createGrammars>;

/** A parser holds up everything else while it works, so that what takes too long is cut into windows instead. */
const LARGEST_PARSED = 300_000;
const LONGEST_PARSE_MS = 1_500;

interface Prepared {
  parser: Parser;
  query: Query;
}

/** Finds the definitions in a file; nothing when its language has no grammar or the text is too much for it. */
export function createGrammars(wanted = true) {
  const tools = wanted ? optionalPackage<typeof import('web-tree-sitter')>('web-tree-sitter') : undefined;
  const available =
    tools !== undefined &&
    optionalFile('@vscode/tree-sitter-wasm/wasm/tree-sitter-typescript.wasm') !== undefined;
  let started: Promise<void> | undefined;
  const prepared = new Map<string, Promise<Prepared | undefined>>();

  async function prepare(definitions: Definitions): Promise<Prepared | undefined> {
    const file = optionalFile(`@vscode/tree-sitter-wasm/wasm/tree-sitter-${definitions.grammar}.wasm`);
    if (tools === undefined || file === undefined) return undefined;
    try {
      started ??= tools.Parser.init();
      await started;
      const language: Language = await tools.Language.load(file);
      const parser = new tools.Parser();
      parser.setLanguage(language);
      return { parser, query: new tools.Query(language, queryText(definitions)) };
    } catch {
      // A grammar that does not fit the parser counts as missing.
      return undefined;
    }
  }

  return {
    /** Whether there is anything to parse with. */
    available,
    covers: (language: string, path: string): boolean =>
      available && definitionsFor(language, path) !== undefined,
    async definitions(language: string, path: string, text: string): Promise<Definition[] | undefined> {
      const definitions = definitionsFor(language, path);
      if (!available || definitions === undefined || text.length > LARGEST_PARSED) return undefined;
      const ready = prepared.get(definitions.grammar) ?? prepare(definitions);
      prepared.set(definitions.grammar, ready);
      const tool = await ready;
      return tool === undefined ? undefined : definitionsIn(tool, text);
    },
  };
}

function definitionsIn({ parser, query }: Prepared, text: string): Definition[] | undefined {
  const deadline = performance.now() + LONGEST_PARSE_MS;
  const late = (): boolean => performance.now() > deadline;
  try {
    const tree = parser.parse(text, null, { progressCallback: late });
    if (tree === null) {
      parser.reset();
      return undefined;
    }
    try {
      // Not `captures`, which also gives those of patterns that match in part only.
      const found = query.matches(tree.rootNode, { progressCallback: late });
      return found
        .flatMap(({ captures }) => captures)
        .map(({ name: kind, node }) => ({
          kind,
          name: nameOf(node),
          start: node.startPosition.row,
          end: node.endPosition.row,
        }));
    } finally {
      tree.delete();
    }
  } catch {
    parser.reset();
    return undefined;
  }
}

const LONGEST_NAME = 80;

/** Where grammars keep the name differs; most have a field of that name, somewhere on the way down. */
function nameOf(node: Node): string {
  for (const field of ['name', 'key', 'left', 'declarator', 'type'] as const) {
    const named = node.childForFieldName(field);
    if (named === null) continue;
    return field === 'declarator' && named.childForFieldName(field) !== null
      ? nameOf(named)
      : shortName(named.text);
  }
  for (const child of node.namedChildren) {
    if (/(?:declarator|spec|function_name|simple_name)$/.test(child.type))
      return child.childForFieldName('name') === null ? shortName(child.text) : nameOf(child);
  }
  return node.type.includes('identifier') ? shortName(node.text) : '';
}

function shortName(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > LONGEST_NAME ? '' : line.replace(/^["'`]|["'`]$/g, '');
}

interface CodeLanguage {
  /** The name users give and answers show. */
  name: string;
  extensions: readonly string[];
  /** Other names it is known by. */
  aliases?: readonly string[];
  /** Text about code, or data: found after code of equal worth. */
  prose?: boolean;
}

/** Every language there is a name for; those with a grammar are in `assets/code`. */
const LANGUAGES: readonly CodeLanguage[] = languages;

const byExtension = new Map(
  LANGUAGES.flatMap((language) => language.extensions.map((extension) => [extension, language] as const)),
);
const byName = new Map(LANGUAGES.map((language) => [language.name, language] as const));

/** What a file is written in, by its name; everything else is text. */
export function languageOf(path: string): string {
  const extension = /\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? '';
  return byExtension.get(extension)?.name ?? 'text';
}

export function isProse(language: string): boolean {
  return byName.get(language)?.prose === true;
}

/** The language a caller means; an error that names the nearest when there is none. */
export function knownLanguage(name: string): string {
  const wanted = name.trim().toLowerCase().replace(/^\./, '');
  const found =
    byName.get(wanted) ??
    LANGUAGES.find(({ aliases }) => aliases?.includes(wanted)) ??
    byExtension.get(wanted);
  if (found !== undefined) return found.name;
  const names = LANGUAGES.map((language) => language.name);
  throw new BmadError('invalid_input', t`There is no language ${quoted(name)}.`, {
    subject: name.slice(0, 100),
    // One letter is in almost every word.
    suggestions: nearest(
      wanted,
      names.filter((known) => known.length > 1),
      2,
    ),
    hint: t`Languages: ${names.join(', ')}.`,
  });
}

/** A piece of a file that is found and shown as one; lines are counted from 0, both ends included. */
export interface Chunk {
  start: number;
  end: number;
  /** `createStore`, `Store.save`; empty when it is a piece of nothing in particular. */
  symbol: string;
  kind: string;
}

const WINDOW = 60;
const OVERLAP = 10;
/** A definition of more lines is cut; so is one that holds others, at these. */
const LONGEST = 120;
const LONG_HOLDER = 80;
/** A constant of fewer lines stays with its neighbours. */
const SHORTEST_CONSTANT = 3;

interface Held extends Definition {
  /** Where it begins without the comment above it. */
  head: number;
  members: Held[];
}

/** Cuts a file at its definitions, each with the comment above it; what is between them is cut into windows. */
export function chunksByDefinition(lines: readonly string[], definitions: readonly Definition[]): Chunk[] {
  const chunks: Chunk[] = [];
  const top = nested(lines, definitions);
  emit(lines, 0, lines.length - 1, top, { symbol: '', kind: 'code' }, chunks);
  return chunks;
}

export function chunksByWindow(lines: readonly string[]): Chunk[] {
  return windows(lines, { start: 0, end: lines.length - 1, symbol: '', kind: 'text' });
}

/** A section with its heading is a piece. */
export function chunksByHeading(lines: readonly string[]): Chunk[] {
  const chunks: Chunk[] = [];
  let start = 0;
  let symbol = '';
  const take = (end: number): void => {
    chunks.push(...windows(lines, { start, end, symbol, kind: symbol === '' ? 'text' : 'section' }));
  };
  const isFenced = fenceFollower();
  for (const [index, line] of lines.entries()) {
    const heading = isFenced(line) ? undefined : headingIn(line.slice(0, 300))?.title;
    if (heading === undefined || heading === '') continue;
    if (index > start) take(index - 1);
    start = index;
    symbol = heading.slice(0, 80);
  }
  take(lines.length - 1);
  return chunks;
}

/** Nests definitions in those that contain them; anything inside a function of usual size is part of it. */
function nested(lines: readonly string[], definitions: readonly Definition[]): Held[] {
  const top: Held[] = [];
  const open: Held[] = [];
  const sorted = definitions.toSorted((a, b) => a.start - b.start || b.end - a.end);
  let free = 0;
  for (const { kind, name, start, end } of sorted) {
    if (kind === 'constant' && end - start + 1 < SHORTEST_CONSTANT) continue;
    while (open.length > 0 && (open.at(-1)?.end ?? 0) < start) open.pop();
    const holder = open.at(-1);
    // The same lines twice: an exported constant that is a function, or two definitions on one line.
    if (holder !== undefined && holder.head === start && holder.end === end) {
      if (holder.kind === 'constant') holder.kind = kind;
      if (holder.name === '') holder.name = name;
      continue;
    }
    const isLong = holder !== undefined && holder.end - holder.start + 1 > LONG_HOLDER;
    if (holder !== undefined && !isLong && !CONTAINERS.has(holder.kind)) continue;
    const siblings = holder?.members ?? top;
    const previous = siblings.at(-1);
    if (previous !== undefined && previous.end >= start) continue;
    const floor = previous === undefined ? (holder === undefined ? 0 : holder.head + 1) : previous.end + 1;
    free = Math.max(floor, withComment(lines, start, floor));
    const held: Held = { kind, name, start: Math.min(free, start), head: start, end, members: [] };
    siblings.push(held);
    open.push(held);
  }
  return top;
}

const COMMENT_LINE = /^\s*(?:\/\/|\/\*|\*|#(?!include|define|if|end|else)|--|"""|@|\[|;|%|<!--)|\*\/\s*$/;

/** The first line of the comment, attribute or decorator right above a line. */
function withComment(lines: readonly string[], start: number, floor: number): number {
  let first = start;
  while (first > floor && COMMENT_LINE.test((lines[first - 1] ?? '').slice(0, 300))) first -= 1;
  return first;
}

type Owner = Pick<Chunk, 'symbol' | 'kind'>;

function emit(
  lines: readonly string[],
  from: number,
  to: number,
  members: readonly Held[],
  owner: Owner,
  chunks: Chunk[],
): void {
  let next = from;
  for (const member of members) {
    if (member.start > next) chunks.push(...windows(lines, { ...owner, start: next, end: member.start - 1 }));
    const name = member.name === '' && owner.symbol === '' ? '' : member.name || member.kind;
    const symbol = owner.symbol === '' ? name : `${owner.symbol}.${name}`;
    const own = { symbol: symbol.slice(0, 160), kind: member.kind };
    if (member.members.length > 0) emit(lines, member.start, member.end, member.members, own, chunks);
    else if (member.end - member.start + 1 > LONGEST)
      chunks.push(...windows(lines, { ...own, start: member.start, end: member.end }));
    else chunks.push({ ...own, start: member.start, end: member.end });
    next = Math.max(next, member.end + 1);
  }
  if (next <= to) chunks.push(...windows(lines, { ...owner, start: next, end: to }));
}

/** Pieces of at most a window, without empty lines at their ends; what has no word in it is left out. */
function windows(lines: readonly string[], range: Chunk): Chunk[] {
  const found: Chunk[] = [];
  let { start, end } = range;
  while (start <= end && isBlank(lines[start])) start += 1;
  while (end >= start && isBlank(lines[end])) end -= 1;
  while (start <= end) {
    const last = Math.min(end, start + WINDOW - 1);
    const piece = lines.slice(start, last + 1);
    if (piece.some((line) => /[\p{L}\p{N}]{2}/u.test(line.slice(0, 300))))
      found.push({ ...range, start, end: last, kind: isImports(range, piece) ? 'imports' : range.kind });
    if (last === end) break;
    start = last + 1 - OVERLAP;
  }
  return found;
}

const IMPORT =
  /^\s*(?:import|from|use|using|include|require|package|#include|export \*|(?:const|var|let) .*require\()/;
const IMPORT_REST = /^\s*(?:[\w$*]+(?: as [\w$]+)?,?|[})].*|\/[/*].*|\*.*)?\r?$/;

/** The head of a file names much and does nothing. */
function isImports({ kind }: Chunk, piece: readonly string[]): boolean {
  if (kind !== 'code') return false;
  const lines = piece.map((line) => line.slice(0, 300));
  return (
    lines.some((line) => IMPORT.test(line)) &&
    lines.every((line) => IMPORT.test(line) || IMPORT_REST.test(line))
  );
}

function isBlank(line: string | undefined): boolean {
  return line === undefined || line.trim() === '';
}
