import { posix } from 'node:path';
import { qualifiedName, type BmadRecord } from '../model/record.ts';
import type { Call } from './context.ts';

const TEXTS_KEPT = 12;

/**
 * Takes note of what a client has been given: relative paths and bare commands are about it. `given` is the address of the
 * text, which is not in the folder where it was rendered.
 */
export function noteText(
  { recent }: Call,
  text: BmadRecord | { path: string },
  project: string | undefined,
  given = '',
): void {
  if (recent === undefined) return;
  const path = 'path' in text ? text.path : text.bmadRelativePath;
  const folder = posix.dirname(path);
  const agent = 'kind' in text && text.kind === 'agent' ? qualifiedName(text) : undefined;
  const others = recent.texts.filter((known) => known.folder !== folder || known.agent !== agent);
  const rendered = /^bmad:\/\/(rendered\/[^/]+)\//.exec(given)?.[1];
  const noted = {
    folder,
    path,
    project,
    ...(agent === undefined ? {} : { agent }),
    ...(rendered === undefined ? {} : { rendered }),
  };
  recent.texts = [noted, ...others].slice(0, TEXTS_KEPT);
}

/** Arguments that do not say what a call is about. */
const BESIDE = new Set(['cursor', 'operation', 'detail', 'limit', 'project']);
const CALLS_KEPT = 100;
/** What is longer is a message, which the parts of an answer do not depend on. */
const KEPT_LENGTH = 2_000;

type Given = Readonly<Record<string, unknown>>;

/** A call begins, and as it was meant: a cursor alone stands for the call that gave it. */
export function continued(tool: string, raw: unknown, { recent }: Call): unknown {
  if (recent === undefined) return raw;
  recent.turn += 1;
  if (typeof raw !== 'object' || raw === null) return raw;
  const { cursor, ...given } = raw as Given;
  const named = Object.keys(given).filter((key) => !BESIDE.has(key) && (given[key] ?? '') !== '');
  const known = typeof cursor === 'string' && named.length === 0 ? recent.calls.get(cursor) : undefined;
  return known?.tool === tool ? { ...given, ...known.args, cursor } : raw;
}

/** Keeps a call whose answer has more parts, by the cursor of the next one. */
export function noteCall({ recent }: Call, tool: string, raw: unknown, next: unknown): void {
  if (recent === undefined || typeof next !== 'string' || typeof raw !== 'object' || raw === null) return;
  const args = Object.fromEntries(
    Object.entries(raw)
      .filter(([key]) => key !== 'cursor')
      .map(([key, value]: [string, unknown]) => [
        key,
        typeof value === 'string' ? value.slice(0, KEPT_LENGTH) : value,
      ]),
  );
  if (recent.calls.size >= CALLS_KEPT) recent.calls.delete(recent.calls.keys().next().value ?? '');
  recent.calls.set(next, { tool, args });
}
