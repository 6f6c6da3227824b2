import { chunksOf, type Chunk } from './text-chunks.ts';
import { cut, oneLine } from './text.ts';
import { estimateTokens } from './token-estimate.ts';

/** A text to include in a larger one if there is room. */
export interface Piece {
  title: string;
  /** Where it can be read in full. */
  source?: string;
  text: string;
  /** How many characters from its beginning must not be left out. */
  required: number;
  /** Who comes first when room is given out: the lowest. */
  rank: number;
  /** Whether the rest is taken from its beginning without gaps, or section by section, those about the matter first. */
  rest: 'in order' | 'by score';
  /** The share of the free room it may take while others wait. */
  share: number;
  score?: (chunk: Chunk) => number;
}

export interface LeftOut {
  title: string;
  source?: string;
  why: string;
}

export interface Packed {
  text: string;
  tokens: number;
  /** Whether all that is required is in it. */
  isComplete: boolean;
  /** What the required parts take, in tokens. */
  needed: number;
  included: { title: string; source?: string; tokens: number; isWhole: boolean }[];
  leftOut: LeftOut[];
}

/** Shorter passages are the same by chance. */
const LEAST_REPETITION = 120;
const SHOWN_TITLES = 4;
/** Room for the list of what is left out: a share of the budget. */
const RESERVED = 0.08;
const MOST_RESERVED = 500;

/**
 * Puts pieces together so that the whole is never over the budget: first all that is required, then the rest in the order
 * of its ranks. The same input gives the same bytes. What is left out is listed at the end, as far as there is room.
 */
export function packed(
  head: string,
  pieces: readonly Piece[],
  absent: readonly LeftOut[],
  budget: number,
): Packed {
  const parts = withoutRepetitions(pieces);
  const reserve = Math.min(MOST_RESERVED, Math.ceil(budget * RESERVED));
  const needed = estimateTokens(head) + 1 + sum(parts.map((part) => (part.required > 0 ? part.cost() : 0)));
  if (needed + reserve > budget) return beginning(head, parts, needed, budget);
  let room = budget - reserve - needed;
  const waiting = parts.toSorted((a, b) => a.piece.rank - b.piece.rank);
  const free = room;
  for (const limited of [true, false])
    for (const part of waiting) {
      const most = limited ? Math.min(room, Math.floor(free * part.piece.share)) : room;
      room -= part.fill(most);
    }
  const shown = parts.filter((part) => part.taken.size > 0);
  const leftOut = [...parts.flatMap((part) => part.leftOut()), ...absent];
  const body = [head, ...shown.map((part) => part.render())].join('\n\n');
  const text = [body, leftOutText(leftOut, budget - estimateTokens(body) - 2)].filter(Boolean).join('\n\n');
  return {
    text,
    tokens: estimateTokens(text),
    isComplete: true,
    needed: withReserve(needed),
    included: shown.map((part) => part.summary()),
    leftOut,
  };
}

/** The budget that is enough for this much and for the list. */
function withReserve(needed: number): number {
  return needed + Math.min(MOST_RESERVED, Math.ceil(needed * (RESERVED / (1 - RESERVED))) + 1);
}

/** Where little fits, the list of what is left out has a larger share. */
const RESERVED_OF_LITTLE = 0.25;
/** A beginning that is shorter says nothing. */
const WORTH = 30;

/** What can be had without room for all that is required, in the order of the parts; of the others what fits their share. */
function beginning(head: string, parts: readonly Part[], needed: number, budget: number): Packed {
  const room = budget - Math.min(MOST_RESERVED, Math.floor(budget * RESERVED_OF_LITTLE));
  let text = fitted(head, room);
  const included: Packed['included'] = [];
  const leftOut: LeftOut[] = [];
  let isFull = text !== head;
  for (const part of parts) {
    const about = { title: part.piece.title, ...sourceOf(part.piece) };
    if (part.required === 0 && !isFull)
      part.fill(Math.floor((room - estimateTokens(text)) * part.piece.share));
    const longer = `${text}\n\n${part.render()}`;
    if (part.taken.size > 0 && !isFull && estimateTokens(longer) <= room) {
      text = longer;
      included.push(part.summary());
      leftOut.push(...part.leftOut());
      continue;
    }
    const shown = part.required > 0 && !isFull ? fitted(longer, room) : text;
    const gain = estimateTokens(shown) - estimateTokens(text);
    leftOut.push({ ...about, why: gain < WORTH ? 'no room' : 'only its beginning fits' });
    if (part.required > 0) isFull = true;
    if (gain < WORTH) continue;
    text = shown;
    included.push({ ...about, tokens: gain, isWhole: false });
  }
  const list = leftOutText(leftOut, budget - estimateTokens(text) - 2);
  const whole = list === '' ? text : `${text}\n\n${list}`;
  return {
    text: whole,
    tokens: estimateTokens(whole),
    isComplete: false,
    needed: withReserve(needed),
    included,
    leftOut,
  };
}

/** The longest beginning of a text within so many tokens. */
export function fitted(text: string, tokens: number): string {
  if (estimateTokens(text) <= tokens) return text;
  let [fits, fails] = [0, text.length];
  while (fails - fits > 1) {
    const middle = (fits + fails) >> 1;
    if (estimateTokens(text.slice(0, middle)) <= tokens) fits = middle;
    else fails = middle;
  }
  return cut(text, fits);
}

class Part {
  readonly piece: Piece;
  /** The required beginning, if any, and the sections behind it. */
  readonly chunks: readonly Chunk[];
  readonly required: number;
  readonly taken = new Set<number>();
  /** Sections that are already elsewhere, and where. */
  readonly repeated = new Map<number, string>();

  constructor(piece: Piece) {
    this.piece = piece;
    const begin = piece.text.slice(0, piece.required);
    this.required = begin === '' ? 0 : 1;
    this.chunks = [
      ...(begin === '' ? [] : [{ title: undefined, level: 0, isStep: false, text: begin }]),
      ...chunksOf(piece.text.slice(piece.required)),
    ];
    if (this.required > 0) this.taken.add(0);
  }

  /** Takes as many sections as fit into so many tokens, and says how many it took. */
  fill(most: number): number {
    const { rest, score = () => 0 } = this.piece;
    const open = [...this.chunks.keys()].filter((at) => !this.taken.has(at) && !this.repeated.has(at));
    const scores = new Map(open.map((at) => [at, score(this.chunks[at] as Chunk)]));
    const order =
      rest === 'in order'
        ? open
        : open.toSorted((a, b) => (scores.get(b) ?? 0) - (scores.get(a) ?? 0) || a - b);
    const before = this.cost();
    let cost = before;
    for (const at of order) {
      this.taken.add(at);
      const after = this.cost();
      if (after - before <= most) {
        cost = after;
        continue;
      }
      this.taken.delete(at);
      // A reader who follows instructions must not miss one in the middle.
      if (rest === 'in order') break;
    }
    return cost - before;
  }

  cost(): number {
    return this.taken.size === 0 ? 0 : estimateTokens(this.render()) + 1;
  }

  render(): string {
    const { title, source } = this.piece;
    const lines: string[] = [];
    let gap: string[] = [];
    const closeGap = (): void => {
      if (gap.length > 0) lines.push(`[left out: ${titles(gap)}]\n`);
      gap = [];
    };
    for (const [at, chunk] of this.chunks.entries()) {
      if (!this.taken.has(at)) {
        gap.push(
          this.repeated.has(at) ? `${chunkTitle(chunk)} (see ${this.repeated.get(at)})` : chunkTitle(chunk),
        );
        continue;
      }
      closeGap();
      lines.push(chunk.text.endsWith('\n') ? chunk.text : `${chunk.text}\n`);
    }
    closeGap();
    const heading = source === undefined ? `## ${title}` : `## ${title}: ${source}`;
    return source === undefined
      ? `${heading}\n\n${lines.join('').trimEnd()}`
      : `${heading}\n\n----- BEGIN -----\n${lines.join('')}----- END -----`;
  }

  summary(): Packed['included'][number] {
    const isWhole = this.taken.size + this.repeated.size === this.chunks.length;
    return { title: this.piece.title, ...sourceOf(this.piece), tokens: this.cost(), isWhole };
  }

  leftOut(): LeftOut[] {
    const { title } = this.piece;
    const about = { title, ...sourceOf(this.piece) };
    const missing = [...this.chunks.keys()].filter((at) => !this.taken.has(at) && !this.repeated.has(at));
    const copies = [...new Set(this.repeated.values())];
    return [
      ...(missing.length === 0
        ? []
        : [{ ...about, why: missing.length === this.chunks.length ? 'no room' : this.#missing(missing) }]),
      ...copies.map((where) => ({ ...about, why: `partly identical to ${where}` })),
    ];
  }

  #missing(missing: readonly number[]): string {
    const names = missing.map((at) => chunkTitle(this.chunks[at] as Chunk));
    return `no room for ${missing.length} of ${this.chunks.length} parts: ${titles(names)}`;
  }
}

function chunkTitle({ title }: Chunk): string {
  return title === undefined ? 'the beginning' : oneLine(title, 60);
}

function titles(names: readonly string[]): string {
  const more = names.length - SHOWN_TITLES;
  return [...names.slice(0, SHOWN_TITLES), ...(more > 0 ? [`${more} more`] : [])].join(' · ');
}

/** What an earlier piece contains is not repeated. */
function withoutRepetitions(pieces: readonly Piece[]): Part[] {
  const parts = pieces.filter(({ text }) => text.trim() !== '').map((piece) => new Part(piece));
  const seen = new Map<string, string>();
  for (const part of parts.toSorted((a, b) => a.piece.rank - b.piece.rank)) {
    const where = part.piece.source ?? part.piece.title;
    const begin = part.required > 0 ? (part.chunks[0]?.text ?? '') : '';
    for (const [at, { text }] of part.chunks.entries()) {
      const key = plain(text);
      const first = seen.get(key);
      if (first !== undefined && at >= part.required) part.repeated.set(at, first);
      else if (key.length >= LEAST_REPETITION) seen.set(key, where);
    }
    for (const { text } of chunksOf(begin)) {
      const key = plain(text);
      if (key.length >= LEAST_REPETITION && !seen.has(key)) seen.set(key, where);
    }
  }
  return parts;
}

function plain(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

function sourceOf({ source }: { source?: string }): { source?: string } {
  return source === undefined ? {} : { source };
}

function leftOutText(all: readonly LeftOut[], room: number): string {
  if (all.length === 0) return '';
  const lines = ['## Left out', ''];
  let used = 5;
  for (const [index, { title, source, why }] of all.entries()) {
    const line = `- ${source === undefined ? title : `${title} ${source}`}: ${why}`;
    const rest = all.length - index;
    used += estimateTokens(line) + 1;
    if (used + 8 > room) {
      if (used - estimateTokens(line) + 8 <= room) lines.push(`- and ${rest} more`);
      break;
    }
    lines.push(line);
  }
  return lines.length === 2 ? '' : lines.join('\n');
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
