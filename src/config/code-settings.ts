import * as z from 'zod';
import { settingMeta } from './setting-meta.ts';

/** The search in the code of the project. */
export const codeSettings = {
  codeSearchMs: z
    .int()
    .min(100)
    .max(60_000)
    .default(3_000)
    .describe('How long a code search may read files before it answers with what it has read so far.')
    .register(settingMeta, {
      env: 'BMAD_CODE_SEARCH_MS',
      flag: '--code-search-ms',
      placeholder: 'ms',
      summary: 'Time limit for a code search',
      rare: true,
    }),
};
