import { HOLDS_WITH, type MemoryEntry } from '../../model/memory.ts';

export const holdsWith = (id: string): string => `${HOLDS_WITH}${id}`;

export function isSettled(
  one: Pick<MemoryEntry, 'id' | 'tags'>,
  other: Pick<MemoryEntry, 'id' | 'tags'>,
): boolean {
  return one.tags.includes(holdsWith(other.id)) || other.tags.includes(holdsWith(one.id));
}

/** New tags, and those of the old ones that say what it holds beside: these are not for finding it. */
export function withSettled(tags: readonly string[], before: readonly string[] = []): string[] {
  return [...new Set([...tags, ...before.filter((tag) => tag.startsWith(HOLDS_WITH))])];
}
