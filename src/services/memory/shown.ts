import type { MemoryEntry } from '../../model/memory.ts';
import { shownText } from '../../base/secrets/secret-text.ts';
import type { OpenMemory } from './opened.ts';

/**
 * What is remembered, as it may leave the service. What we remember was masked before it was kept; but files are written
 * by hand and by other tools, which check nothing, and a shared store is filled by others too.
 */
export interface Masking {
  text(text: string): string;
  entry(entry: MemoryEntry): MemoryEntry;
  /** For earlier wordings and everything else that has a text. */
  wording<T extends { text: string; agent?: string; tags?: readonly string[] }>(wording: T): T;
}

export function shownBy({ hide }: Pick<OpenMemory, 'hide'>): Masking {
  const text = (given: string): string => shownText(given, hide);
  const wording: Masking['wording'] = (given) => ({
    ...given,
    text: text(given.text),
    ...(given.agent === undefined ? {} : { agent: text(given.agent) }),
    ...(given.tags === undefined ? {} : { tags: given.tags.map(text) }),
  });
  return { text, wording, entry: (given) => wording(given) };
}
