import { visible } from '../../../base/text/hidden.ts';
import type { Line, Style } from './lines.ts';
import type { Look } from './look.ts';

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
