import { posix } from 'node:path';
import { qualifiedName, type BmadRecord } from '../model/record.ts';
import type { Call } from './context.ts';

const TEXTS_KEPT = 12;

/** Takes note of what a client has been given: relative paths and bare commands are about it. */
export function noteText(
  { recent }: Call,
  text: BmadRecord | { path: string },
  project: string | undefined,
): void {
  if (recent === undefined) return;
  const folder = posix.dirname('path' in text ? text.path : text.bmadRelativePath);
  const agent = 'kind' in text && text.kind === 'agent' ? qualifiedName(text) : undefined;
  const others = recent.texts.filter((known) => known.folder !== folder || known.agent !== agent);
  recent.texts = [{ folder, project, ...(agent === undefined ? {} : { agent }) }, ...others].slice(
    0,
    TEXTS_KEPT,
  );
}
