import * as z from 'zod';
import { settingMeta } from './setting-meta.ts';

/** What is reported to the people who operate servers. */
export const traceSettings = {
  traces: z
    .boolean()
    .default(false)
    .describe(
      'Record OpenTelemetry spans for MCP requests and HTTP API calls. Needs the package @opentelemetry/api and an exporter.',
    )
    .register(settingMeta, {
      env: 'BMAD_TRACES',
      personal: true,
      flag: '--traces',
      placeholder: '',
      summary: 'Record OpenTelemetry spans',
      rare: true,
    }),
};
