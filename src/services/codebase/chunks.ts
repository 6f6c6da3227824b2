import { fenceFollower, headingIn } from '../../base/text/markdown.ts';
import { CONTAINERS } from './definitions.ts';
import type { Definition } from './grammars.ts';

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
