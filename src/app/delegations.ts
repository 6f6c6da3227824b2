import type { Config } from '../config/schema.ts';
import type { Delegation } from '../services/delegation/delegation.ts';

/** Delegation within the limits that the user has set; loaded when something is first delegated. */
export async function openDelegation(config: Config): Promise<Delegation> {
  const { createDelegation } = await import('../services/delegation/delegation.ts');
  return createDelegation({
    depth: config.delegateDepth,
    rounds: config.delegateRounds,
    tokens: config.delegateTokens,
    answerTokens: config.delegateAnswer,
    timeMs: config.delegateSeconds * 1_000,
  });
}
