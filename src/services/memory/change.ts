import { BmadError, quoted } from '../../base/errors.ts';
import type { MemoryEntry, MemoryRevision } from '../../model/memory.ts';
import { isMoment } from './sound.ts';
import { REVISIONS_KEPT, type MemoryChange, type NewMemory, type Upserted } from './store.ts';

/** The rules of change, the same for every engine: the stored memory and the new one decide what to store. */

export interface Stored {
  entry: MemoryEntry;
  /** Newest first. */
  revisions: readonly MemoryRevision[];
}

export interface Decision {
  /** What to store; undefined if nothing changes. */
  next: Stored | undefined;
  /** The vector of the text as it is now. Without one, an old vector stays only if the text did. */
  vector: Float32Array | undefined;
  textChanged: boolean;
}

export type Decide<T> = (current: Stored | undefined, index: number) => { decision: Decision; answer: T };

/** NUL ends a text in some drivers, and half a character cannot be written as UTF-8. */
function cleanText(text: string): string {
  return text
    .replaceAll('\0', '')
    .replace(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g, '\uFFFD');
}

/** Names are compared, so their characters are normalized; a text is kept as written. */
function cleanName(name: string): string {
  return cleanText(name).normalize('NFC');
}

function cleanTags(tags: readonly string[]): string[] {
  return [...new Set(tags.map(cleanName))];
}

export function isoTime(text: string): string {
  const time = Date.parse(text);
  const moment = Number.isFinite(time) ? new Date(time).toISOString() : '';
  // Years of five digits are written with a sign, and would be sorted before all others.
  if (isMoment(moment)) return moment;
  throw new BmadError('invalid_input', `${quoted(text)} is not a date.`, {
    hint: 'Use a form such as 2026-03-01 or 2026-03-01T09:30:00Z.',
  });
}

export function upserted(
  current: Stored | undefined,
  given: NewMemory,
  project: string,
): { decision: Decision; answer: Upserted } {
  const at = isoTime(given.at);
  const wording = { text: cleanText(given.text), tags: cleanTags(given.tags), agent: cleanName(given.agent) };
  if (current === undefined) {
    const createdAt = given.createdAt === undefined ? at : isoTime(given.createdAt);
    const entry: MemoryEntry = {
      id: given.id,
      type: given.type,
      ...wording,
      project,
      createdAt,
      updatedAt: createdAt > at ? createdAt : at,
      revision: 1,
    };
    const next = { entry, revisions: [] };
    return {
      decision: { next, vector: given.vector, textChanged: true },
      answer: { outcome: 'created', entry, previous: undefined },
    };
  }
  const back = given.revive === false ? current : revived(current);
  if (back === current) return reworded(back, false, wording, at, given.vector);
  const { decision, answer } = reworded(back, true, wording, at, given.vector);
  return { decision, answer: { ...answer, revived: true } };
}

export function updated(current: Stored, change: MemoryChange): { decision: Decision; answer: Upserted } {
  const { entry } = current;
  const wording = {
    text: change.text === undefined ? entry.text : cleanText(change.text),
    tags: change.tags === undefined ? entry.tags : cleanTags(change.tags),
    agent: change.agent === undefined ? entry.agent : cleanName(change.agent),
  };
  return reworded(current, false, wording, isoTime(change.at), change.vector);
}

type Wording = Pick<MemoryEntry, 'text' | 'tags' | 'agent'>;

function reworded(
  current: Stored,
  touched: boolean,
  wording: Wording,
  at: string,
  vector: Float32Array | undefined,
): { decision: Decision; answer: Upserted } {
  const { entry, revisions } = current;
  const textChanged = wording.text !== entry.text;
  const changed =
    textChanged || wording.agent !== entry.agent || wording.tags.join('\0') !== entry.tags.join('\0');
  if (!changed)
    return {
      decision: { next: touched ? current : undefined, vector, textChanged: false },
      answer: { outcome: touched ? 'updated' : 'unchanged', entry, previous: undefined },
    };
  const { revision, text, tags, agent, updatedAt } = entry;
  const previous: MemoryRevision = { revision, text, tags, agent, at: updatedAt };
  const next: Stored = {
    entry: {
      ...entry,
      ...wording,
      // Clocks of different machines disagree; a memory's own times never run backwards.
      updatedAt: at > updatedAt ? at : updatedAt,
      revision: revision + 1,
    },
    revisions: [previous, ...revisions].slice(0, REVISIONS_KEPT),
  };
  return {
    decision: { next, vector, textChanged },
    answer: { outcome: 'updated', entry: next.entry, previous },
  };
}

function revived(current: Stored): Stored {
  const { forgottenAt, supersededAt, supersededBy, ...entry } = current.entry;
  if (forgottenAt === undefined && supersededAt === undefined && supersededBy === undefined) return current;
  return { ...current, entry };
}

/** Marks change neither wording nor vector. */
export function marked(current: Stored, entry: MemoryEntry): Decision {
  return { next: { ...current, entry }, vector: undefined, textChanged: false };
}

export const STAYS: Decision = { next: undefined, vector: undefined, textChanged: false };
