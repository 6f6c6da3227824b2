import { t } from '../../base/text/message.ts';
import * as z from 'zod';
import { BmadError, quoted } from '../../base/errors.ts';
import {
  findSection,
  outline,
  pointedSections,
  type Section,
  templateSections,
} from '../../base/text/markdown.ts';
import { textPart } from '../../base/text/paging.ts';
import { byteLength, kilobytes } from '../../base/text/text.ts';
import { estimateTokens } from '../../base/text/text-budget.ts';
import { nearest } from '../../base/text/suggest.ts';
import { type Detail } from '../fields.ts';
import { nextPart } from '../answer-text.ts';
import type { Answer } from '../operation.ts';

/** A text, or the part of it that fits into one answer. */
export const shownTextSchema = z.object({
  text: z.string(),
  complete: z.boolean(),
  bytes: z.int().describe('Size of the whole text'),
  tokens: z.int().describe('Rough count for the part shown'),
  next: z.string().optional(),
  /** Headings behind the part shown. */
  sectionsLeft: z.array(z.string()).optional(),
  /** How many more there are. */
  sectionsMore: z.int().optional(),
  /** Whether only the headings are shown. */
  outlineOnly: z.boolean().optional(),
  /** Whether the text itself is left out, and only what stands before it is shown. */
  textLeftOut: z.boolean().optional(),
});
export type ShownText = z.output<typeof shownTextSchema>;

export interface ShowOptions {
  section?: string | undefined;
  cursor?: string | undefined;
  detail: Detail;
  maxBytes: number;
  /** The same for a text that points to its own sections, if that may be longer. */
  mostBytes?: number | undefined;
  /** Stands before the part shown, is counted in its tokens, and is no part of the text. */
  head?: string | undefined;
}

/** Even after a very long message there is room for a part worth reading. */
export const LEAST_PART = 3_000;

/** Room kept for the note under a text; it is short when nothing is left out. */
const RESERVED = 800;
const SHORT_NOTE = 250;
/** `detail: "full"` asks for everything at once; beyond this even a patient host gives up. */
const FULL_BYTES = 400_000;
const LISTED_SECTIONS = 20;
const LISTED_TITLES = 30;
/** Fewer than this say too little of what follows. */
const LEAST_LISTED = 4;

export function showText(whole: string, options: ShowOptions): ShownText {
  const { section, cursor, detail, head } = options;
  const text = section === undefined ? whole : sectionText(whole, section);
  const room = roomFor(text, options);
  const part = textPart(text, detail === 'full' ? FULL_BYTES : room, cursor);
  const end = part.from + part.part.length;
  const left = part.next === undefined ? undefined : sectionsAfter(text, end);
  const shown = head === undefined ? part.part : `${head}\n\n${part.part}`;
  return {
    text: shown,
    complete: part.next === undefined && part.from === 0,
    bytes: byteLength(text),
    tokens: estimateTokens(shown),
    ...(part.next === undefined ? {} : { next: part.next, ...left }),
  };
}

/** So much more is given where a second call would bring no more than an end. */
const A_LITTLE_MORE = 1.2;

/** A text that is only a little too long is not torn apart, and from the sections it points to not easily. */
function roomFor(text: string, { maxBytes, mostBytes = maxBytes, cursor, head = '' }: ShowOptions): number {
  const size = byteLength(text) + SHORT_NOTE;
  if (size <= maxBytes) return maxBytes;
  const fits = cursor === undefined && size <= mostBytes;
  // The host sees one answer, of which the head is a part.
  const before = byteLength(head);
  const isLittleMore = before + byteLength(text) <= (before + maxBytes) * A_LITTLE_MORE;
  const isWhole = fits && (isLittleMore || pointedSections(text).length > 0);
  return isWhole ? mostBytes : maxBytes - RESERVED;
}

/** The sections behind a place. Of many, those that have others inside come first, so that the list reaches the end. */
function sectionsAfter(text: string, place: number): Pick<ShownText, 'sectionsLeft' | 'sectionsMore'> {
  const all = sectionsIn(text);
  // A heading that occurs twice stands for its first place.
  const isFirst = (one: Section): boolean => all.find(({ title }) => title === one.title) === one;
  const following = all.filter((section) => section.start >= place && isFirst(section));
  const levels = [...new Set(following.map(({ level }) => level))].sort((a, b) => b - a);
  const upTo = (most: number): Section[] => following.filter(({ level }) => level <= most);
  const fitting = levels
    .map(upTo)
    .find((some) => some.length <= LISTED_SECTIONS && some.length >= LEAST_LISTED);
  const shown =
    following.length <= LISTED_SECTIONS ? following : (fitting ?? following.slice(0, LISTED_SECTIONS));
  const more = following.length - shown.length;
  return {
    sectionsLeft: shown.map(({ title }) => title),
    ...(more === 0 ? {} : { sectionsMore: more }),
  };
}

/** The headings of a text, or the sections of a template. */
function headingsOf(text: string): Section[] {
  const ofTemplate = templateSections(text);
  return ofTemplate.length > 0 ? ofTemplate : outline(text);
}

/** Headings, and what the text points to in another way, in their order. */
function sectionsIn(text: string): Section[] {
  const headings = headingsOf(text).filter(({ level }) => level <= 3);
  const pointed = pointedSections(text);
  return pointed.length === 0 ? headings : [...headings, ...pointed].sort((a, b) => a.start - b.start);
}

/** Only the headings of a text, for a caller who wants to choose first. */
export function outlineOnly(text: string): ShownText {
  const headings = headingsOf(text)
    .filter(({ level }) => level <= 3)
    .map(({ title, level }) => `${'  '.repeat(level - 1)}${title}`)
    .join('\n');
  return {
    text: headings,
    complete: false,
    bytes: byteLength(text),
    tokens: estimateTokens(headings),
    outlineOnly: true,
  };
}

/** What stands before a text, without the text. */
export function withoutText(head: string, { envelope, body }: { envelope: string; body: string }): ShownText {
  const text = [head, envelope].filter(Boolean).join('\n\n');
  return {
    text,
    complete: false,
    bytes: byteLength(body) - byteLength(envelope),
    tokens: estimateTokens(text),
    textLeftOut: true,
  };
}

function sectionText(whole: string, title: string): string {
  const sections = [...headingsOf(whole), ...pointedSections(whole)];
  const found = pointedSection(sections, title) ?? findSection(sections, title);
  if (found !== undefined) return whole.slice(found.start, found.end);
  const titles = sections.map((section) => section.title);
  throw new BmadError('not_found', t`There is no section ${quoted(title)} in this text.`, {
    subject: title,
    suggestions: nearest(title, titles),
    hint:
      titles.length === 0
        ? t`It has no headings. Omit the section to read it in parts.`
        : t`Sections: ${titles.slice(0, LISTED_TITLES).join(' · ')}${andMore(titles.length - LISTED_TITLES)}.`,
  });
}

/** A section that is pointed to is asked for with its mark or without. */
function pointedSection(sections: readonly Section[], title: string): Section | undefined {
  const wanted = `#${title.trim().replace(/^#/, '')}`;
  return sections.find((section) => section.title === wanted);
}

/** What is said under a text that is not whole: what is missing, and how to get it. */
export function shownNote(shown: ShownText): string | undefined {
  if (shown.textLeftOut === true)
    return t`The text itself (${kilobytes(shown.bytes)}) is left out. Make the same call without detail to get it.`;
  if (shown.outlineOnly === true)
    return t`Outline only (${kilobytes(shown.bytes)} in full). Omit the detail to read the text, or name a heading as section.`;
  if (shown.next === undefined) return shown.complete ? undefined : t`Last part.`;
  const sections = shown.sectionsLeft ?? [];
  const left =
    sections.length === 0
      ? ''
      : t` Still to come, each available as section: ${sections.join(' · ')}${andMore(shown.sectionsMore)}.`;
  return t`PART of ${kilobytes(shown.bytes)}; detail:"full" gives all of it at once.${left}`;
}

/** What a list leaves out is said, or a reader takes it for the whole. */
const andMore = (count = 0): string => (count > 0 ? t` · and ${count} more` : '');

/** The call for the next part of a text. */
export function restOf({ next }: ShownText): Answer['again'] {
  return nextPart(next, t`Read on before going past this part`);
}
