import * as z from 'zod';
import { settingMeta } from './setting-meta.ts';

/** The completion contract: programs of the project that say whether something is done. */
export const contractSettings = {
  contractTimeoutMs: z
    .int()
    .min(1_000)
    .max(3_600_000)
    .default(120_000)
    .describe('How long a completion contract may run before it is stopped and counts as failed.')
    .register(settingMeta, {
      env: 'BMAD_CONTRACT_TIMEOUT_MS',
      flag: '--contract-timeout-ms',
      placeholder: 'ms',
      summary: 'Time limit for a completion contract',
      rare: true,
    }),
  contractEnv: z
    .array(z.string().regex(/^[A-Za-z_]\w*$/, 'Use the name of an environment variable.'))
    .default([])
    .describe('Names of additional environment variables to pass to the programs of a completion contract.')
    .register(settingMeta, {
      env: 'BMAD_CONTRACT_ENV',
      personal: true,
      flag: '--contract-env',
      placeholder: 'names',
      summary: 'Variables for contracts',
      separator: ',',
      rare: true,
    }),
  contractsOverHttp: z
    .boolean()
    .default(false)
    .describe('Let HTTP clients run completion contracts, which start programs in the project.')
    .register(settingMeta, {
      env: 'BMAD_CONTRACTS_OVER_HTTP',
      personal: true,
      flag: '--contracts-over-http',
      placeholder: '',
      summary: 'Completion contracts over HTTP',
      binding: true,
      rare: true,
    }),
};
