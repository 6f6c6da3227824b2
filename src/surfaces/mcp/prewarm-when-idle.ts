import type { Context } from '../../operations/context.ts';
import { operationsOnDemand } from './ask.ts';
import type { Idle } from './idle.ts';
import { callTool } from './tools.ts';
import { unattended } from './watch.ts';

/** Calls the tool that stands for all operations, for nobody. */
type CallForNobody = (quiet: Context, args: Record<string, unknown>) => Promise<unknown>;

/** Once the tools are listed and nobody asks for anything: loads what a first call needs, unless that is switched off. */
export function prewarmed(
  context: Context,
  idle: Idle,
  call: CallForNobody = (quiet, args) => callTool('bmad', args, quiet, unattended()),
): void {
  idle.afterListing(async () => context.stay());
  if (!context.config.prewarm) return;
  idle.afterListing(async (pause) => {
    const { prewarm } = await import('./prewarm.ts');
    // Nobody has asked for it, and nobody counts it.
    const quiet = { ...context, observe: undefined, turn: undefined, tracing: undefined };
    await prewarm(quiet, pause, { operations: operationsOnDemand, call: (args) => call(quiet, args) });
  });
}
