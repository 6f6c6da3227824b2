import * as z from 'zod';

/** What a person can do about it; `needs` are arguments that the person has to type. */
const actionSchema = z.object({
  label: z.string(),
  operation: z.string(),
  args: z.record(z.string(), z.unknown()),
  needs: z.array(z.string()).optional(),
  /** Whether it cannot be taken back, or lets programs run. */
  danger: z.boolean().optional(),
  /** Whether a person is asked a second time, as nothing takes it back. */
  asks: z.boolean().optional(),
  /** Whether it is one of several that are as good as each other: none of them is the first to press. */
  equal: z.boolean().optional(),
  /** Whether it is one of the operations that are for people only. */
  person: z.boolean().optional(),
});

/** One thing that waits for a person. */
export const itemSchema = z.object({
  id: z.string(),
  kind: z.enum([
    'task',
    'result',
    'contract',
    'source',
    'ledger',
    'verdict',
    'trust',
    'run',
    'handoff',
    'memory',
  ]),
  /** Who should decide, as far as the project says. */
  role: z.string().optional(),
  since: z.string().optional(),
  title: z.string(),
  evidence: z.array(z.object({ file: z.string(), line: z.int().optional(), says: z.string() })),
  /** What is decided on, as it is stored. */
  text: z.string(),
  /** The texts in it, each to the letter, where it frames several. */
  exact: z.array(z.object({ name: z.string(), text: z.string() })).optional(),
  actions: z.array(actionSchema),
});

export type InboxItem = z.output<typeof itemSchema>;
export type InboxAction = z.output<typeof actionSchema>;
