import { secretsOut } from '../../base/secrets/masking.ts';
import type { MemoryEntry } from '../../model/memory.ts';
import type { OpenMemory, Session } from './opened.ts';

/**
 * Takes what only a file has into the store, under the id it has had all along, so that it can be marked and changed there.
 * The file stays as it is: what is done to the memory afterwards decides about its line.
 */
export async function adopted(
  { hide }: OpenMemory,
  { store }: Session,
  { id, type, agent, text, tags, createdAt }: MemoryEntry,
): Promise<MemoryEntry> {
  const at = createdAt.startsWith('1970') ? new Date().toISOString() : createdAt;
  const safe = secretsOut(text, hide).text;
  const [made] = await store.upsert([
    { id, type, agent, text: safe, tags, at, createdAt: at, revive: false },
  ]);
  if (made === undefined) throw new Error('The store returned no result for a memory.');
  return made.entry;
}
