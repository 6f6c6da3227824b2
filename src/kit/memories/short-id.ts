import { sha256 } from '../../base/sha256.ts';

/** A short id of something that has none of its own in its file: the same words always have the same one. */
export function shortId(letter: 'H' | 'R', text: string): string {
  return `${letter}-${sha256(text.normalize('NFC')).slice(0, 8)}`;
}
