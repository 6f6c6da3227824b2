import * as z from 'zod';
import { settingMeta } from './setting-meta.ts';

/**
 * What a delegation to an agent may cost. A project's own file sets none of it: it is the user whose model is asked.
 */
export const delegationSettings = {
  delegateDepth: z
    .int()
    .min(1)
    .max(5)
    .default(2)
    .describe(
      'How many agents may delegate one to the other in a call; 1 is only the one that was called for.',
    )
    .register(settingMeta, {
      env: 'BMAD_DELEGATE_DEPTH',
      personal: true,
      flag: '--delegate-depth',
      rare: true,
      placeholder: 'levels',
      summary: 'Levels of delegation',
    }),
  delegateRounds: z
    .int()
    .min(1)
    .max(50)
    .default(8)
    .describe(
      'How often one delegation may ask the model of the client. Clients of the 2026 protocol give up after ten by themselves.',
    )
    .register(settingMeta, {
      env: 'BMAD_DELEGATE_ROUNDS',
      personal: true,
      flag: '--delegate-rounds',
      rare: true,
      placeholder: 'count',
      summary: 'Questions of one delegation',
    }),
  delegateTokens: z
    .int()
    .min(1_000)
    .max(2_000_000)
    .default(60_000)
    .describe('Tokens that one delegation may use in all, questions and answers together, estimated.')
    .register(settingMeta, {
      env: 'BMAD_DELEGATE_TOKENS',
      personal: true,
      flag: '--delegate-tokens',
      rare: true,
      placeholder: 'tokens',
      summary: 'Tokens of one delegation',
    }),
  delegateAnswer: z
    .int()
    .min(16)
    .max(200_000)
    .default(8_192)
    .describe('The most that max_tokens of one answer may be; a larger wish is lowered to it.')
    .register(settingMeta, {
      env: 'BMAD_DELEGATE_ANSWER',
      personal: true,
      flag: '--delegate-answer',
      rare: true,
      placeholder: 'tokens',
      summary: 'Tokens of one answer',
    }),
  delegateSeconds: z
    .number()
    .min(0.05)
    .max(3_600)
    .default(300)
    .describe('How long the model of the client may take for one answer; a later one is not used.')
    .register(settingMeta, {
      env: 'BMAD_DELEGATE_SECONDS',
      personal: true,
      flag: '--delegate-seconds',
      rare: true,
      placeholder: 'seconds',
      summary: 'Time for one answer',
    }),
};
