import { visible } from '../../../base/text/hidden.ts';

/** Only the eight colours that every theme defines, dark or light; what is said never depends on them alone. */
const CODES: Record<Style, readonly [on: string, off: string]> = {
  title: ['1', '22'],
  strong: ['1', '22'],
  emphasis: ['3', '23'],
  struck: ['9', '29'],
  name: ['36', '39'],
  muted: ['2', '22'],
  code: ['2', '22'],
  good: ['32', '39'],
  bad: ['31', '39'],
  warn: ['33', '39'],
  link: ['4', '24'],
};

const ESC = '\u001B';
/** Of an address that can be clicked, all is read: the text of such a span is the address, or a part of it. */
const ADDRESS = /^https?:\/\/[\x21-\x7E]+$/;

/**
 * Lines as a terminal takes them. This is the only place that makes codes for terminals: all text passes `visible` first,
 * so what looks like a code in it is text by then.
 */
export function painted(lines: readonly Line[], { colours, links }: Pick<Look, 'colours' | 'links'>): string {
  return lines
    .map((spans) =>
      spans
        .map(({ text, style, link = '' }) => {
          const shown = visible(text);
          if (style === undefined || !colours || shown === '') return shown;
          const [on, off] = CODES[style];
          const styled = `${ESC}[${on}m${shown}${ESC}[${off}m`;
          return links && ADDRESS.test(link) && link.includes(shown)
            ? `${ESC}]8;;${link}${ESC}\\${styled}${ESC}]8;;${ESC}\\`
            : styled;
        })
        .join(''),
    )
    .map((text) => `${text}\n`)
    .join('');
}

/** Where the cursor is among the lines of a drawing: after the last one, unless it says otherwise. */
export interface Cursor {
  row: number;
  column: number;
}

/** A drawing in the place of the one before it, whose cursor is `above` lines below its first. */
export function repainted(
  lines: readonly Line[],
  look: Pick<Look, 'colours' | 'links'>,
  above: number,
  cursor?: Cursor,
): string {
  const back = above === 0 ? '\r' : `\r${ESC}[${above}A`;
  const place =
    cursor === undefined ? '' : `${ESC}[${lines.length - cursor.row}A${ESC}[${cursor.column + 1}G`;
  return `${back}${ESC}[J${painted(lines, look)}${place}`;
}

/** One line in the place of the one before it, without an end: the cursor stays in it. */
export function overwritten(spans: Line, look: Pick<Look, 'colours' | 'links'>): string {
  return `\r${ESC}[2K${painted([spans], look).slice(0, -1)}`;
}

/** What a piece of text means; the painter alone knows how that looks. */
export type Style =
  | 'title'
  | 'strong'
  | 'emphasis'
  | 'struck'
  | 'name'
  | 'muted'
  | 'code'
  | 'good'
  | 'bad'
  | 'warn'
  | 'link';

/** A piece of a line. It is data until it is painted, so nothing in a text can pass for a style. */
export interface Span {
  text: string;
  style?: Style | undefined;
  /** The address it is a part of, which may be broken into several lines. */
  link?: string | undefined;
}

export type Line = readonly Span[];

/** What is hidden in a text is made visible before its width is taken. */
export function span(text: string, style?: Style): Span {
  const shown = visible(text);
  return style === undefined ? { text: shown } : { text: shown, style };
}

export const line = (...parts: readonly (Span | string)[]): Line =>
  parts.map((part) => (typeof part === 'string' ? span(part) : part));

export const EMPTY: Line = [];

/** The text of a line without its styles. */
export const textOf = (spans: Line): string => spans.map(({ text }) => text).join('');

/** Parts of a screen with an empty line between them; those without lines are left out. */
export function stacked(...parts: readonly (readonly Line[])[]): Line[] {
  return parts.filter((part) => part.length > 0).flatMap((part, at) => (at === 0 ? part : [EMPTY, ...part]));
}

/** How a stream is written to: as what, and how wide. */
export interface Look {
  width: number;
  colours: boolean;
  /** Whether addresses can be clicked. */
  links: boolean;
  /** Whether a person watches, so that a line may be written over. */
  live: boolean;
}

interface Output {
  isTTY?: boolean | undefined;
  columns?: number | undefined;
}

export type Colour = 'always' | 'never' | undefined;

/** What is taken where nobody says how wide the output is. */
const USUAL_WIDTH = 80;
const NARROWEST = 20;

/**
 * How a stream looks; nothing where it gets plain text, which every pipe does unless colours are asked for. What is typed
 * counts before the environment, and FORCE_COLOR before NO_COLOR, as in Node itself.
 */
export function lookOf(
  { isTTY = false, columns }: Output,
  env: Readonly<Partial<Record<string, string>>>,
  colour: Colour,
): Look | undefined {
  const forced = forcedBy(env);
  const dumb = env['TERM'] === 'dumb';
  const wanted = colour === undefined ? forced : colour === 'always';
  if (!isTTY && wanted !== true) return undefined;
  const refused = (env['NO_COLOR'] ?? '') !== '' || dumb;
  const colours = wanted ?? !refused;
  // Some terminals say that they have no columns at all.
  const width = [isTTY ? columns : undefined, Number(env['COLUMNS'])].find((each) => isWidth(each));
  return {
    width: Math.max(NARROWEST, width ?? USUAL_WIDTH),
    colours,
    links: isTTY && colours && knowsLinks(env),
    live: isTTY && !dumb && !isAutomatic(env),
  };
}

const isWidth = (given: number | undefined): boolean =>
  given !== undefined && Number.isInteger(given) && given > 0;

function forcedBy({ FORCE_COLOR: force }: Readonly<Partial<Record<string, string>>>): boolean | undefined {
  if (force === undefined) return undefined;
  return force !== '0' && force !== 'false';
}

/** Whether the terminal belongs to a machine that builds or tests, where nobody sits. */
export function isAutomatic({ CI: ci }: Readonly<Partial<Record<string, string>>>): boolean {
  return ci !== undefined && ci !== '' && ci !== '0' && ci !== 'false';
}

/** There is no way to ask a terminal whether it knows links; others print the codes as text, so only known ones get them. */
function knowsLinks(env: Readonly<Partial<Record<string, string>>>): boolean {
  if (isAutomatic(env) || env['TMUX'] !== undefined || env['STY'] !== undefined) return false;
  if (Number(env['VTE_VERSION'] ?? 0) >= 5_000) return true;
  if (env['WT_SESSION'] !== undefined || env['KITTY_WINDOW_ID'] !== undefined) return true;
  return /^(?:iTerm\.app|WezTerm|vscode|ghostty|Hyper|Tabby|rio)$/.test(env['TERM_PROGRAM'] ?? '');
}
