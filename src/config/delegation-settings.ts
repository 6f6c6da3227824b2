import * as z from 'zod';
import { intBetween, meta, PERSONAL, settingMeta } from './setting-meta.ts';

/**
 * What a delegation to an agent may cost. A project's own file sets none of it: it is the user whose model is asked.
 */
export const delegationSettings = {
  delegateDepth: intBetween(1, 5)
    .default(2)
    .describe('How many agents deep a delegation may go; 1 allows only the agent that was called.')
    .register(settingMeta, meta('levels', 'Levels of delegation', PERSONAL)),
  delegateRounds: intBetween(1, 50)
    .default(8)
    .describe(
      'How many times one delegation may ask the client’s model. Clients of the 2026 protocol stop after ten anyway.',
    )
    .register(settingMeta, meta('count', 'Questions per delegation', PERSONAL)),
  delegateTokens: intBetween(1_000, 2_000_000)
    .default(60_000)
    .describe('Estimated number of tokens one delegation may use, questions and answers together.')
    .register(settingMeta, meta('tokens', 'Tokens per delegation', PERSONAL)),
  delegateAnswer: intBetween(16, 200_000)
    .default(8_192)
    .describe('Largest max_tokens for one answer; higher values are lowered to it.')
    .register(settingMeta, meta('tokens', 'Tokens per answer', PERSONAL)),
  delegateSeconds: z
    .number()
    .min(0.05)
    .max(3_600)
    .default(300)
    .describe('How long the client’s model may take for one answer; later answers are ignored.')
    .register(settingMeta, meta('seconds', 'Time limit for one answer', PERSONAL)),
};
