import type { Context } from '../../operations/context.ts';

/** How many records of each kind are served for the project of the server; nothing where it cannot be read. */
export async function catalogueFigures(context: Context): Promise<Record<string, number> | undefined> {
  try {
    const { catalogue } = await context.workspace();
    const counts: Record<string, number> = {};
    for (const { kind } of catalogue.winners) counts[kind] = (counts[kind] ?? 0) + 1;
    return counts;
  } catch {
    return undefined;
  }
}
