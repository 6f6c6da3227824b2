import type { MemoryType } from '../../model/memory.ts';
import { lineText } from '../../kit/memories/line-files.ts';
import type { MemoryStore } from './engine.ts';

interface EarlierWordings {
  stamp: string;
  lines: ReadonlySet<string>;
}

const known = new WeakMap<MemoryStore, EarlierWordings>();

const keyOf = (type: MemoryType, text: string): string => `${type}\n${lineText(text)}`;

/** Whether a text is what a memory said before it was changed: a file that has it is behind the store. */
export async function isEarlier(store: MemoryStore, type: MemoryType, text: string): Promise<boolean> {
  const stamp = await store.stamp();
  let found = known.get(store);
  if (found?.stamp !== stamp) {
    const lines = new Set<string>();
    const reworded = await store.reworded();
    for (const { entry, revisions } of reworded)
      for (const revision of revisions) lines.add(keyOf(entry.type, revision.text));
    // What one said before, another may say now.
    for (const { entry } of reworded) lines.delete(keyOf(entry.type, entry.text));
    found = { stamp, lines };
    known.set(store, found);
  }
  return found.lines.has(keyOf(type, text));
}
