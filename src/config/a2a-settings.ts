import * as z from 'zod';
import { settingMeta } from './setting-meta.ts';

/** Agent2Agent: programs of others that ask the agents for work. */
export const a2aSettings = {
  a2a: z
    .boolean()
    .default(false)
    .describe('With --http: let other programs send work to the agents over Agent2Agent.')
    .register(settingMeta, {
      env: 'BMAD_A2A',
      personal: true,
      flag: '--a2a',
      placeholder: '',
      summary: 'Agent2Agent, with --http',
      binding: true,
      rare: true,
    }),
  a2aWithoutApproval: z
    .boolean()
    .default(false)
    .describe(
      'Queue work requested over Agent2Agent immediately. Without it, a person must approve the work first.',
    )
    .register(settingMeta, {
      env: 'BMAD_A2A_WITHOUT_APPROVAL',
      personal: true,
      flag: '--a2a-without-approval',
      placeholder: '',
      summary: 'Agent2Agent without approval',
      binding: true,
      rare: true,
    }),
};
