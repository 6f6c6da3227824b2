import type { KitEntry } from './entry.ts';
import { lineText } from './line-files.ts';
import { NOBODY } from './decisions.ts';

/** A line of the log of decisions has no room for who decided; the copy of it in another file may say it. */
export function withAgents(entries: KitEntry[], copies: readonly KitEntry[] = entries): KitEntry[] {
  const known = new Map<string, KitEntry>();
  for (const copy of copies)
    if (copy.type === 'decisions' && copy.agent !== NOBODY) known.set(lineText(copy.text), copy);
  if (known.size === 0) return entries;
  return entries.map((entry) => {
    if (entry.type !== 'decisions' || entry.agent !== NOBODY) return entry;
    const copy = known.get(lineText(entry.text));
    return copy === undefined ? entry : { ...entry, agent: copy.agent, names: copy.names };
  });
}
