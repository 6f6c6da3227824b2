import * as z from 'zod';
import { FOR_PEOPLE } from '../offers.ts';

/** What a person can do about it; `needs` are arguments that the person has to type. */
const actionSchema = z.object({
  label: z.string(),
  operation: z.string(),
  args: z.record(z.string(), z.unknown()),
  needs: z.array(z.string()).optional(),
  /** Whether it cannot be taken back, or lets programs run. */
  danger: z.boolean().optional(),
  /** Whether it is one of the operations that are for people only. */
  person: z.boolean().optional(),
});

export const itemSchema = z.object({
  id: z.string(),
  kind: z.enum(['task', 'result', 'contract', 'source', 'ledger', 'verdict', 'trust', 'run', 'handoff']),
  /** Who should decide, as far as the project says. */
  role: z.string().optional(),
  since: z.string().optional(),
  title: z.string(),
  evidence: z.array(z.object({ file: z.string(), line: z.int().optional(), says: z.string() })),
  /** What is decided on, as it is stored. */
  text: z.string(),
  actions: z.array(actionSchema),
});

export type InboxItem = z.output<typeof itemSchema>;
export type InboxAction = z.output<typeof actionSchema>;

type Marks = Pick<InboxAction, 'needs' | 'danger'>;

export function action(
  label: string,
  operation: string,
  args: Record<string, unknown>,
  marks: Marks = {},
): InboxAction {
  const person = FOR_PEOPLE.includes(operation) ? { person: true } : {};
  return { label, operation, args, ...marks, ...person };
}

/** The same as what a reader of a text can do. */
export function stepsOf({ actions }: InboxItem) {
  return actions.map(({ label, operation, args, needs }) => ({ operation, args, open: needs, why: label }));
}

/** What was found, and what could not be read: something may wait there too. */
export interface WaitingThere {
  items: InboxItem[];
  unread: { what: string; why: string }[];
}

export const problemsOf = (what: string, problems: readonly string[]): WaitingThere['unread'] =>
  problems.map((why) => ({ what, why }));
