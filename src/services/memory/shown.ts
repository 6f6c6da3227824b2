import type { MemoryEntry } from '../../model/memory.ts';
import { shownText } from '../../base/secrets/masking.ts';
import type { OpenMemory } from './opened.ts';

/**
 * What is remembered, as it may leave the service. What we remember was masked before it was kept; but files are written
 * by hand and by other tools, which check nothing, and a shared store is filled by others too.
 */
export function shownBy({ hide }: Pick<OpenMemory, 'hide'>) {
  const text = (given: string): string => shownText(given, hide);
  /** For earlier wordings and everything else that has a text. */
  const wording = <T extends { text: string; agent?: string; tags?: readonly string[] }>(given: T): T => ({
    ...given,
    text: text(given.text),
    ...(given.agent === undefined ? {} : { agent: text(given.agent) }),
    ...(given.tags === undefined ? {} : { tags: given.tags.map(text) }),
  });
  return { text, wording, entry: (given: MemoryEntry): MemoryEntry => wording(given) };
}
