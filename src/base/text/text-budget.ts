import { outline } from './markdown.ts';
import { cut, oneLine } from './text.ts';

/** What a run of characters is, as far as tokenizers treat it alike. */
const LETTER = 1;
const DIGIT = 2;
const SPACE = 3;
const BREAK = 4;
const MARK = 5;
const WIDE = 6;

/** Costs in tokens, fitted to o200k_base over the files of real installs; tests/installs/token-estimate.test.ts has the errors. */
const WORD = 0.42;
const LETTERS_PER_TOKEN = 7.5;
const ACCENT = 0.25;
const HUMP = 0.7;
const DIGITS_PER_TOKEN = 3;
const INDENT = 0.6;
const LINE_END = 0.45;
const LEAST_MARKS = 0.85;
const MARKS_PER_TOKEN = 3.2;
const REPEATED_PER_TOKEN = 16;
const WIDE_CHARACTER = 0.9;

/**
 * About how many tokens a text is for a model, in one pass without a vocabulary. Bytes/4 is a third short on JSON and CSV
 * with checksums, and the texts of a project are of all kinds; this counts words, figures and punctuation apart. It is
 * meant to be a little high rather than low, because budgets go by it.
 */
export function estimateTokens(text: string): number {
  const end = text.length;
  const codes = end <= SHORT ? shortCodes : new Uint16Array(end);
  // Texts that were put together are slow to walk through; their characters in a row are not.
  Buffer.from(codes.buffer).write(text, 'utf16le');
  let tokens = 0;
  let at = 0;
  while (at < end) {
    const first = codes[at] as number;
    const kind = KINDS[first] as number;
    const start = at;
    let code = first;
    if (kind === LETTER) {
      let accents = 0;
      let hasHump = false;
      let before = first;
      do {
        if (code > 0x7f) accents += 1;
        else if (code <= 90 && before >= 97) hasHump = true;
        before = code;
        at += 1;
        if (at === end) break;
        code = codes[at] as number;
      } while (KINDS[code] === LETTER);
      tokens += wordCost(at - start, accents, hasHump);
    } else {
      let isRepeated = true;
      do {
        if (code !== first) isRepeated = false;
        at += 1;
        if (at === end) break;
        code = codes[at] as number;
      } while (KINDS[code] === kind);
      tokens += runCost(kind, at - start, isRepeated);
    }
  }
  return Math.ceil(tokens);
}

/** Room for the codes of one text of usual size, used again for the next. */
const SHORT = 16_384;
const shortCodes = new Uint16Array(SHORT);

function wordCost(length: number, accents: number, hasHump: boolean): number {
  return Math.max(1, WORD + length / LETTERS_PER_TOKEN) + accents * ACCENT + (hasHump ? HUMP : 0);
}

/** For anything but words. Numbers rather than an object: this runs for every run of every answer. */
function runCost(kind: number, length: number, isRepeated: boolean): number {
  switch (kind) {
    case DIGIT:
      return Math.ceil(length / DIGITS_PER_TOKEN);
    case SPACE:
      // One space belongs to the word behind it.
      return length > 1 ? INDENT + length / 80 : 0;
    case BREAK:
      return LINE_END + length / 80;
    case MARK:
      return Math.max(LEAST_MARKS, length / (isRepeated ? REPEATED_PER_TOKEN : MARKS_PER_TOKEN));
    default:
      return length * WIDE_CHARACTER;
  }
}

/** The kind of every UTF-16 code; behind the Latin letters all are alike. */
const KINDS = kindsOfAll();

function kindsOfAll(): Uint8Array {
  const kinds = new Uint8Array(0x1_0000).fill(WIDE);
  for (let code = 0; code < 0x250; code += 1) kinds[code] = kindOf(code);
  return kinds;
}

function kindOf(code: number): number {
  if (code < 0x80) {
    if ((code >= 97 && code <= 122) || (code >= 65 && code <= 90)) return LETTER;
    if (code >= 48 && code <= 57) return DIGIT;
    if (code === 10 || code === 13) return BREAK;
    return code === 32 || code === 9 ? SPACE : MARK;
  }
  // Latin with accents; everything behind it has words and signs of few letters a token.
  if (code >= 0xc0 && code <= 0x24f) return LETTER;
  return code === 0xa0 ? SPACE : WIDE;
}

/** A part of a text that stands for itself; all parts together are the text. */
export interface Chunk {
  /** Its heading, or what the step is for; nothing for what comes before the first. */
  title: string | undefined;
  /** 1 to 6 for a heading, 0 for a step in tags. */
  level: number;
  isStep: boolean;
  text: string;
}

const STEP_TAG = /^[ \t]*<step\b[^\n>]*/gm;
const STEP_HEADING = /^(?:step|phase|stage|étape)\s*\d/i;
const DEEPEST = 3;

/** The sections of a text: at its headings, and at the steps of instructions in tags. */
export function chunksOf(text: string): Chunk[] {
  const marks = new Map<number, Omit<Chunk, 'text'>>();
  for (const { title, level, start } of outline(text))
    if (level <= DEEPEST) marks.set(start, { title, level, isStep: STEP_HEADING.test(title) });
  for (const match of text.matchAll(STEP_TAG))
    marks.set(match.index, { title: stepTitle(match[0]), level: 0, isStep: true });
  const places = [...marks].sort(([a], [b]) => a - b);
  const [first] = places;
  const before = text.slice(0, first?.[0] ?? text.length);
  return [
    ...(before === '' ? [] : [{ title: undefined, level: 0, isStep: false, text: before }]),
    ...places.map(([start, mark], index) => ({
      ...mark,
      text: text.slice(start, places[index + 1]?.[0] ?? text.length),
    })),
  ];
}

function stepTitle(tag: string): string {
  const number = /\bn="([^"]{1,20})"/.exec(tag)?.[1];
  const goal = /\b(?:goal|title)="([^"]{1,120})"/.exec(tag)?.[1];
  return [`step ${number ?? ''}`.trim(), goal].filter(Boolean).join(': ');
}

/**
 * How much of a text is needed to start with it: all of a short one; otherwise everything up to and including the first
 * step; if there are no steps, as many of the first sections as fit.
 */
export function essentialLength(text: string, maxTokens: number): number {
  if (estimateTokens(text) <= maxTokens) return text.length;
  const chunks = chunksOf(text);
  const lengthOf = (count: number): number =>
    chunks.slice(0, count).reduce((length, chunk) => length + chunk.text.length, 0);
  const step = chunks.findIndex(({ isStep }) => isStep);
  if (step >= 0) {
    const level = chunks[step]?.level ?? 0;
    const after = chunks.findIndex(
      (chunk, index) => index > step && (chunk.isStep || (level > 0 && chunk.level <= level)),
    );
    return lengthOf(after < 0 ? chunks.length : after);
  }
  let fitting = 1;
  let used = estimateTokens(chunks[0]?.text ?? '');
  for (const { text: next } of chunks.slice(1)) {
    used += estimateTokens(next);
    if (used > maxTokens) break;
    fitting += 1;
  }
  return lengthOf(fitting);
}

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

interface Packed {
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
  const needed =
    estimateTokens(head) + 1 + parts.reduce((sum, part) => sum + (part.required > 0 ? part.cost() : 0), 0);
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
