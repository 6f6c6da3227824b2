import { BmadError, quoted } from '../../base/errors.ts';
import { t } from '../../base/text/message.ts';
import { lineText } from '../../kit/memories/line-files.ts';
import type { MemoryEntry, MemoryKey, MemoryRevision, MemoryType } from '../../model/memory.ts';
import {
  type Decided,
  type MemoryChange,
  type NewMemory,
  REVISIONS_KEPT,
  type Stored,
  type Upserted,
} from './engine.ts';
import { isLiving, isoTime, keyText } from './rank.ts';

/** The rules of change, the same for every engine: the stored memory and the new one decide what to store. */

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

export function upserted(current: Stored | undefined, given: NewMemory, project: string): Decided<Upserted> {
  const at = isoTime(given.at);
  const wording = { text: cleanText(given.text), tags: cleanTags(given.tags), agent: cleanName(given.agent) };
  if (current === undefined) {
    const createdAt = given.createdAt === undefined ? at : isoTime(given.createdAt);
    const updatedAt = createdAt > at ? createdAt : at;
    const { type, id, vector } = given;
    const entry: MemoryEntry = { id, type, ...wording, project, createdAt, updatedAt, revision: 1 };
    return {
      next: { entry, revisions: [] },
      vector,
      answer: { outcome: 'created', entry, previous: undefined },
    };
  }
  const back = given.revive === false ? current : revived(current);
  const decided = reworded(back, back !== current, wording, at, given.vector);
  return back === current ? decided : { ...decided, answer: { ...decided.answer, revived: true } };
}

export function updated(current: Stored, change: MemoryChange): Decided<Upserted> {
  const { entry } = current;
  const wording = {
    text: change.text === undefined ? entry.text : cleanText(change.text),
    tags: change.tags === undefined ? entry.tags : cleanTags(change.tags),
    agent: change.agent === undefined ? entry.agent : cleanName(change.agent),
  };
  return reworded(current, false, wording, isoTime(change.at), change.vector);
}

function reworded(
  current: Stored,
  touched: boolean,
  wording: Pick<MemoryEntry, 'text' | 'tags' | 'agent'>,
  at: string,
  vector: Float32Array | undefined,
): Decided<Upserted> {
  const { entry, revisions } = current;
  const { revision, text, tags, agent, updatedAt } = entry;
  if (wording.text === text && wording.agent === agent && wording.tags.join('\0') === tags.join('\0')) {
    const outcome = touched ? 'updated' : 'unchanged';
    return { next: touched ? current : undefined, vector, answer: { outcome, entry, previous: undefined } };
  }
  const previous: MemoryRevision = { revision, text, tags, agent, at: updatedAt };
  // Clocks of different machines disagree; a memory's own times never run backwards.
  const changedAt = at > updatedAt ? at : updatedAt;
  const next = { ...entry, ...wording, updatedAt: changedAt, revision: revision + 1 };
  return {
    next: { entry: next, revisions: [previous, ...revisions].slice(0, REVISIONS_KEPT) },
    vector,
    answer: { outcome: 'updated', entry: next, previous },
  };
}

function revived(current: Stored): Stored {
  const { forgottenAt, supersededAt, supersededBy, ...entry } = current.entry;
  if (forgottenAt === undefined && supersededAt === undefined && supersededBy === undefined) return current;
  return { ...current, entry };
}

export function present(current: Stored | undefined, { type, id }: MemoryKey): Stored {
  if (current !== undefined) return current;
  throw new BmadError('not_found', t`There is no memory ${quoted(id)} in ${type}.`, {
    subject: id,
    steps: [{ operation: 'memory_list', why: t`List memories with their ids` }],
  });
}

export const lineKey = ({ type, text }: { type: MemoryType; text: string }): string =>
  `${type}\n${lineText(text)}`;

/** What memories said before they were changed, of those that have been, unless one of them says it now. */
export function earlierLines(changed: readonly Stored[]): Set<string> {
  const lines = new Set<string>();
  for (const { entry, revisions } of changed)
    for (const { text } of revisions) lines.add(lineKey({ type: entry.type, text }));
  for (const { entry } of changed) lines.delete(lineKey(entry));
  return lines;
}

/** Whether an entry of a file says what was forgotten, superseded or said otherwise since, by all that was changed. */
export function behind(changed: readonly Stored[]): (entry: MemoryEntry) => boolean {
  const lines = earlierLines(changed);
  const gone = changed.map(({ entry }) => entry).filter((entry) => !isLiving(entry));
  for (const entry of gone) lines.add(lineKey(entry));
  const keys = new Set(gone.map(keyText));
  return (entry) => keys.has(keyText(entry)) || lines.has(lineKey(entry));
}
