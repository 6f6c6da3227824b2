import type { Context } from '../../operations/context.ts';
import { listedCounts } from '../../operations/catalogue/listed-counts.ts';

/** How many records of each kind are served for the project of the server; nothing where it cannot be read. */
export async function catalogueFigures(context: Context): Promise<Record<string, number> | undefined> {
  const workspace = await context.workspace().catch(() => undefined);
  return workspace === undefined ? undefined : listedCounts(workspace);
}
