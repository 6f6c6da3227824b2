import { say, t } from '../../base/text/message.ts';
import * as z from 'zod';
import { present } from '../../base/values.ts';

/** How verdicts and receipts are told, for the operations about them. */

export const statusSchema = z.enum(['PASS', 'FAIL', 'NOT_VERIFIED']);

export const contractSchema = z.object({
  kind: z.enum(['script', 'builtin']),
  path: z.string().optional(),
  sha256: z.string().optional(),
  version: z.int().optional(),
});

export const stepSchema = z.object({
  stack: z.string(),
  command: z.string(),
  ok: z.boolean().optional(),
  advisory: z.literal(true).optional(),
  exit_code: z.int().optional(),
  duration_ms: z.int().optional(),
});

/** A receipt without its steps, for lists. */
export const receiptSchema = z.object({
  id: z.string(),
  status: statusSchema,
  reason: z.string(),
  contract: contractSchema,
  working_dir: z.string(),
  stacks: z.array(z.string()),
  started: z.string(),
  duration_ms: z.int(),
  commit: z.string().optional(),
  dirty: z.boolean().optional(),
  tree: z.string(),
  hash: z.string(),
  /** Who ran it and where, as the file says. */
  by: z.string().optional(),
  /** Whether it was written here, as the user's own state has it. */
  written_here: z.boolean().optional(),
});

export type ReceiptData = z.output<typeof receiptSchema>;

interface ReceiptLike extends Omit<
  ReceiptData,
  'working_dir' | 'commit' | 'dirty' | 'tree' | 'written_here'
> {
  directory: string;
  git?: { commit?: string | undefined; dirty: boolean } | undefined;
  tree: { digest: string };
}

export function receiptData(receipt: ReceiptLike, writtenHere?: boolean): ReceiptData {
  const { by, id, status, reason, contract, directory, stacks, started, duration_ms, git, tree, hash } =
    receipt;
  return {
    id,
    status,
    // Kept in plain words, and shown in those of the reader.
    reason: say(reason),
    contract,
    working_dir: directory,
    stacks,
    started,
    duration_ms,
    ...present({ commit: git?.commit }),
    ...(git === undefined ? {} : { dirty: git.dirty }),
    tree: tree.digest,
    hash,
    ...present({ by, written_here: writtenHere }),
  };
}

export function receiptText({
  id,
  status,
  stacks,
  started,
  duration_ms,
  commit,
  dirty,
  ...rest
}: ReceiptData): string {
  const where =
    commit === undefined ? '' : t`, commit ${commit.slice(0, 10)}${dirty === true ? t` with changes` : ''}`;
  const folder = rest.working_dir === '.' ? '' : t` in ${rest.working_dir}`;
  const foreign = rest.written_here === false ? t`, not written here` : '';
  return t`${id} ${status} [${stacks.join(', ')}]${folder} ${started}, ${seconds(duration_ms)}${where}, tree ${rest.tree.slice(0, 12)}${foreign}`;
}

export function stepText({
  stack,
  command,
  ok,
  advisory,
  exit_code: code,
}: z.output<typeof stepSchema>): string {
  const result =
    ok === undefined ? t`no result` : ok ? 'OK' : advisory === true ? t`not OK (advisory)` : t`FAILED`;
  return `  ${stack === '' ? '' : t`${stack}: `}${command} → ${result}${code === undefined || code === 0 ? '' : t` (exit code ${code})`}`;
}

export function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
