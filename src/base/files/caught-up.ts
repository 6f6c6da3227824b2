import { setImmediate as turn } from 'node:timers/promises';

/**
 * What it makes is settled when all that had happened on disk before it was called has been told, on systems that tell at
 * once. There, an event is queued together with the change, and Node takes the whole queue in each round of its loop, when it
 * takes the input of the round. A call may have come with the input of this round after the queue was looked at, so that of
 * the next round is waited for: one turn leads to the end of this round, the second to the end of the next.
 */
export function createCatchingUp(): () => Promise<void> {
  let next: Promise<void> | undefined;
  async function twoRounds(): Promise<void> {
    await turn();
    // Whoever comes from now on may come with the input of the next round.
    next = undefined;
    await turn();
  }
  return () => (next ??= twoRounds());
}
