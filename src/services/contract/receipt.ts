import { createHash } from 'node:crypto';
import * as z from 'zod';

const stepSchema = z.object({
  stack: z.string(),
  command: z.string(),
  ok: z.boolean().optional(),
  advisory: z.literal(true).optional(),
  exit_code: z.int().optional(),
  duration_ms: z.int().optional(),
});

/** One verdict, with all that says what it was about. `hash` covers everything before it, `previous` is the one before. */
export const receiptSchema = z.object({
  version: z.literal(1),
  seq: z.int().min(1),
  id: z.string(),
  previous: z.string(),
  status: z.enum(['PASS', 'FAIL', 'NOT_VERIFIED']),
  reason: z.string(),
  contract: z.object({
    kind: z.enum(['script', 'builtin']),
    path: z.string().optional(),
    sha256: z.string().optional(),
    version: z.int().optional(),
  }),
  directory: z.string(),
  stack: z.string(),
  stacks: z.array(z.string()),
  steps: z.array(stepSchema),
  exit_code: z.int().optional(),
  signal: z.string().optional(),
  timed_out: z.boolean(),
  started: z.string(),
  ended: z.string(),
  duration_ms: z.int(),
  git: z
    .object({ commit: z.string().optional(), branch: z.string().optional(), dirty: z.boolean() })
    .optional(),
  tree: z.object({
    digest: z.string(),
    files: z.int(),
    listed: z.enum(['git', 'walk']),
    left_out: z.int(),
    /** The digest afterwards, when the run itself has changed files. */
    after: z.string().optional(),
  }),
  hash: z.string(),
});

export type Receipt = z.output<typeof receiptSchema>;
export type ReceiptBody = Omit<Receipt, 'version' | 'seq' | 'id' | 'previous' | 'hash'>;

/** What the first receipt follows. */
export const ORIGIN = '0'.repeat(64);

export interface Link {
  seq: number;
  hash: string;
}

/** Makes a receipt of a verdict: the line that is written, to the byte. */
export function sealed(body: ReceiptBody, last: Link): { receipt: Receipt; line: string } {
  const seq = last.seq + 1;
  const id = `cc-${String(seq).padStart(6, '0')}`;
  const open = { version: 1 as const, seq, id, previous: last.hash, ...body };
  const receipt = { ...open, hash: hashOf(JSON.stringify(open)) };
  return { receipt, line: JSON.stringify(receipt) };
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/**
 * Reads a line. It counts only as it was written, to the byte: the same values in another spelling are a change too, and
 * so is a byte that is no text.
 */
export function opened(line: string): { receipt: Receipt; intact: boolean } | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  const parsed = receiptSchema.safeParse(value);
  if (!parsed.success) return undefined;
  const { hash, ...open } = value as Receipt;
  const intact = JSON.stringify({ ...open, hash }) === line && hashOf(JSON.stringify(open)) === hash;
  return { receipt: parsed.data, intact };
}
