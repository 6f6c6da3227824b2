import * as z from 'zod';

const checkSchema = z.object({
  level: z.enum(['ok', 'notice', 'broken']),
  about: z.enum(['entry', 'start', 'trust', 'tools', 'limit', 'twins']),
  text: z.string(),
  /** What a person does in the host or in its files. */
  fix: z.string().optional(),
});

/** One host in one scope; those that are neither installed nor connected are not there. */
export const hostsSchema = z.array(
  z.object({
    host: z.string(),
    name: z.string(),
    scope: z.enum(['user', 'project']),
    file: z.string(),
    installed: z.boolean(),
    found: z.enum(['ours', 'other', 'none', 'unreadable']),
    /** The command line of the entry. */
    starts: z.string().optional(),
    handshake: z
      .object({ ok: z.boolean(), tools: z.int(), ms: z.int(), trouble: z.string().optional() })
      .optional(),
    checks: z.array(checkSchema),
  }),
);

export type CheckedHost = z.output<typeof hostsSchema>[number];
