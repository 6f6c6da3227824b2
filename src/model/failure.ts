/** What sorts of failures a museum has, for those who read it and those who write it. */

export const CATEGORIES = [
  'CC-FAIL',
  'WRONG-ASSUMPTION',
  'CONTEXT-LOSS',
  'HALLUCINATION',
  'ARCH-MISTAKE',
  'PROCESS-SKIP',
] as const;

/** For failures that name no category, or an unknown one. */
export const UNKNOWN_CATEGORY = 'UNKNOWN';

/** The severest first. */
export const SEVERITIES = ['critical', 'important', 'micro', 'unknown'] as const;
export type Severity = (typeof SEVERITIES)[number];
