import { createHash } from 'node:crypto';

/** A short id of something that has none of its own in its file: the same words always have the same one. */
export function shortId(letter: 'H' | 'R', text: string): string {
  return `${letter}-${createHash('sha256').update(text.normalize('NFC')).digest('hex').slice(0, 8)}`;
}
