import * as z from 'zod';
import { PERSONAL, settingMeta } from './setting-meta.ts';

/** Agent2Agent: programs of others that ask the agents for work. */
export const a2aSettings = {
  a2a: z
    .boolean()
    .default(false)
    .describe('With --http: let other programs send work to the agents over Agent2Agent.')
    .register(settingMeta, { ...PERSONAL, binding: true, summary: 'Agent2Agent, with --http' }),
  a2aWithoutApproval: z
    .boolean()
    .default(false)
    .describe(
      'Queue work requested over Agent2Agent immediately. Without it, a person must approve the work first.',
    )
    .register(settingMeta, { ...PERSONAL, binding: true, summary: 'Agent2Agent without approval' }),
};
