import { t } from './message.ts';
import { sha256 } from '../values.ts';
import { BmadError } from '../errors.ts';
import { cutToFit } from './markdown.ts';
import { byteLength } from './text.ts';

/** One part of something that is too long for one answer. */
export interface Part<T> {
  part: T;
  /** Where the part begins, and how much there is in all: characters of a text, items of a list. */
  from: number;
  total: number;
  /** Asks for the next part; nothing when this is the last. */
  next: string | undefined;
}

/** A part of a text that fits into `maxBytes`; the parts put together are the text, to the byte. */
export function textPart(text: string, maxBytes: number, cursor: string | undefined): Part<string> {
  const from = cursor === undefined ? 0 : offsetOf(cursor, fingerprint('t', text), text.length);
  const part = cutToFit(from === 0 ? text : text.slice(from), maxBytes);
  const end = from + part.length;
  // Most answers have one part, and need no mark.
  const next = end < text.length ? `${fingerprint('t', text)}${end}` : undefined;
  return { part, from, total: text.length, next };
}

/** A page of a list. `identity` names the list and its filters, so that a cursor of another list is noticed. */
export function listPage<T>(
  items: readonly T[],
  size: number,
  identity: string,
  cursor: string | undefined,
): Part<T[]> {
  const from = cursor === undefined ? 0 : offsetOf(cursor, fingerprint('l', identity), items.length);
  const part = items.slice(from, from + size);
  const end = from + part.length;
  const next = end < items.length ? `${fingerprint('l', identity)}${end}` : undefined;
  return { part, from, total: items.length, next };
}

/** What is left of one answer when its notes have been kept room for; enough for something, whatever the setting. */
export function answerRoom(answerBytes: number, kept: number): number {
  return Math.max(LEAST_ROOM, answerBytes - kept);
}

const LEAST_ROOM = 1_000;

interface PageOptions<T> {
  size: number;
  maxBytes: number;
  identity: string;
  cursor: string | undefined;
  render(item: T): string;
}

/** A page of a list that also fits into one answer; the cursor continues after the last entry shown. */
export function fittingPage<T>(
  items: readonly T[],
  { size, maxBytes, identity, cursor, render }: PageOptions<T>,
): Part<T[]> {
  const page = listPage(items, size, identity, cursor);
  const fitting = fitItems(page.part, maxBytes, render).length;
  return fitting < page.part.length ? listPage(items, fitting, identity, cursor) : page;
}

/** As many leading items as fit into `maxBytes` when each is shown with `render`; always at least one. */
export function fitItems<T>(items: readonly T[], maxBytes: number, render: (item: T) => string): T[] {
  const fitting: T[] = [];
  let used = 0;
  for (const item of items) {
    used += byteLength(render(item)) + 1;
    if (used > maxBytes && fitting.length > 0) break;
    fitting.push(item);
  }
  return fitting;
}

function fingerprint(kind: string, identity: string): string {
  return `${kind}${sha256(identity).slice(0, 8)}-`;
}

function offsetOf(cursor: string, mark: string, total: number): number {
  const digits = cursor.startsWith(mark) ? cursor.slice(mark.length) : '';
  const offset = /^[1-9]\d*$/.test(digits) ? Number(digits) : total;
  if (offset < total) return offset;
  throw foreignCursor();
}

/** The cursor of another list, including lists that are never cut. */
export function foreignCursor(): BmadError {
  return new BmadError(
    'invalid_input',
    t`The cursor does not belong to this answer, or the content has changed since.`,
    {
      subject: 'cursor',
      hint: t`Repeat the call without a cursor, and use the cursor it returns.`,
    },
  );
}
