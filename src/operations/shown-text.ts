import * as z from 'zod';
import { BmadError, quoted } from '../base/errors.ts';
import { findSection, outline } from '../base/markdown.ts';
import { textPart } from '../base/paging.ts';
import { byteLength, estimateTokens, kilobytes } from '../base/text.ts';
import { nearest } from '../base/suggest.ts';
import type { Detail } from './fields.ts';

/** A text, or the part of it that fits into one answer. */
export const shownTextSchema = z.object({
  text: z.string(),
  complete: z.boolean(),
  bytes: z.int().describe('Size of the whole text'),
  tokens: z.int().describe('Rough count for the part shown'),
  next: z.string().optional(),
  /** Headings behind the part shown. */
  sectionsLeft: z.array(z.string()).optional(),
});
export type ShownText = z.output<typeof shownTextSchema>;

export interface ShowOptions {
  section?: string | undefined;
  cursor?: string | undefined;
  detail: Detail;
  maxBytes: number;
}

/** Room kept for the note under a text; it is short when nothing is left out. */
const RESERVED = 800;
const SHORT_NOTE = 250;
/** `detail: "full"` asks for everything at once; beyond this even a patient host gives up. */
const FULL_BYTES = 400_000;
const LISTED_SECTIONS = 20;

export function showText(whole: string, { section, cursor, detail, maxBytes }: ShowOptions): ShownText {
  const text = section === undefined ? whole : sectionText(whole, section);
  const room = byteLength(text) <= maxBytes - SHORT_NOTE ? maxBytes : maxBytes - RESERVED;
  const part = textPart(text, detail === 'full' ? FULL_BYTES : room, cursor);
  const end = part.from + part.part.length;
  const left =
    part.next === undefined ? [] : outline(text).filter(({ start, level }) => start >= end && level <= 3);
  return {
    text: part.part,
    complete: part.next === undefined && part.from === 0,
    bytes: byteLength(text),
    tokens: estimateTokens(part.part),
    ...(part.next === undefined
      ? {}
      : { next: part.next, sectionsLeft: left.slice(0, LISTED_SECTIONS).map(({ title }) => title) }),
  };
}

/** The headings of a text, indented by their level. */
export function outlineOf(text: string): string[] {
  return outline(text)
    .filter(({ level }) => level <= 3)
    .map(({ title, level }) => `${'  '.repeat(level - 1)}${title}`);
}

function sectionText(whole: string, title: string): string {
  const sections = outline(whole);
  const found = findSection(sections, title);
  if (found !== undefined) return whole.slice(found.start, found.end);
  const titles = sections.map((section) => section.title);
  throw new BmadError('not_found', `There is no section ${quoted(title)} in this text.`, {
    subject: title,
    suggestions: nearest(title, titles),
    hint:
      titles.length === 0
        ? 'It has no headings; use "cursor" to page through it.'
        : `Sections: ${titles.slice(0, 30).join(' · ')}.`,
  });
}

/** What is said under a text: its size, and how to get what is missing. */
export function shownNote(shown: ShownText): string {
  if (shown.next === undefined)
    return `${shown.complete ? 'Complete' : 'Last part'}, ~${shown.tokens} tokens.`;
  const sections = shown.sectionsLeft ?? [];
  const left = sections.length === 0 ? '' : ` Still to come: ${sections.join(' · ')}.`;
  return `PART of ${kilobytes(shown.bytes)}, ~${shown.tokens} tokens.${left} Before going past this part, repeat the call with cursor "${shown.next}" (or section "<heading>").`;
}
