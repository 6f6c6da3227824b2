import { visible } from '../../../base/text/hidden.ts';

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
