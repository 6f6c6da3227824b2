import type { Context } from '../../operations/context.ts';
import type * as onDemand from '../../operations/on-demand.ts';

/** What most sessions call first. */
const USUAL = ['bmad', 'list', 'execute', 'search', 'read'] as const;

const RECALL = { name: 'recall_structured', toolset: 'memory', effect: 'read' } as const;

interface Doors {
  operations(): Promise<typeof onDemand>;
  /** Calls the tool that stands for all operations, for nobody. */
  call(args: Record<string, unknown>): Promise<unknown>;
}

/** In pieces, each of which a client may have to wait for. */
export async function prewarm(
  context: Context,
  pause: () => Promise<void>,
  { operations, call }: Doors,
): Promise<void> {
  const { loadOperation } = await operations();
  await pause();
  for (const name of USUAL) {
    await loadOperation(name);
    await pause();
  }
  await context.workspace();
  await pause();
  // Code that has never run is slow the first time, even if it is loaded. The tool may be switched off.
  await call({ operation: 'list', query: 'agents' }).catch(() => undefined);
  if (!context.tools.of(RECALL).offered) return;
  await pause();
  await loadOperation(RECALL.name);
  await context.prepareRecall(pause);
}
