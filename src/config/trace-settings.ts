import * as z from 'zod';
import { settingMeta } from './setting-meta.ts';

/** What is told to those who watch over servers. */
export const traceSettings = {
  traces: z
    .boolean()
    .default(false)
    .describe(
      'Make OpenTelemetry spans of MCP requests and calls of the HTTP API. Needs the package @opentelemetry/api and whatever gathers the spans.',
    )
    .register(settingMeta, {
      env: 'BMAD_TRACES',
      personal: true,
      flag: '--traces',
      placeholder: '',
      summary: 'Make OpenTelemetry spans',
      rare: true,
    }),
};
