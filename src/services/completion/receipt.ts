import { jsonIn } from '../../base/parse/json.ts';
import { isTable } from '../../base/parse/parse.ts';
import { sha256 } from '../../base/sha256.ts';
import type { Status, Step } from './verdict.ts';

/** One verdict, with all that says what it was about. `hash` covers everything before it, `previous` is the one before. */
export interface Receipt {
  version: 1;
  seq: number;
  id: string;
  previous: string;
  status: Status;
  reason: string;
  contract: { kind: 'script' | 'builtin'; path?: string; sha256?: string; version?: number };
  directory: string;
  stack: string;
  stacks: string[];
  steps: Step[];
  exit_code?: number;
  signal?: string;
  timed_out: boolean;
  started: string;
  ended: string;
  duration_ms: number;
  git?: { commit?: string; branch?: string; dirty: boolean };
  tree: {
    digest: string;
    files: number;
    listed: 'git' | 'walk';
    left_out: number;
    /** The digest afterwards, when the run itself has changed files. */
    after?: string;
  };
  hash: string;
}

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
  const receipt = { ...open, hash: sha256(JSON.stringify(open)) };
  return { receipt, line: JSON.stringify(receipt) };
}

/**
 * Reads a line. It counts only as it was written, to the byte: the same values in another spelling are a change too, and
 * so is a byte that is no text.
 */
export function opened(line: string): { receipt: Receipt; intact: boolean } | undefined {
  const value = jsonIn(line);
  if (!isReceipt(value)) return undefined;
  const { hash, ...open } = value;
  const intact = JSON.stringify({ ...open, hash }) === line && sha256(JSON.stringify(open)) === hash;
  return { receipt: value, intact };
}

/** Whether every part that is used has its type: a line with a right hash may still be somebody else's work. */
function isReceipt(value: unknown): value is Receipt {
  if (!isTable(value)) return false;
  const { contract, tree, git, steps, stacks } = value;
  const texts = ['id', 'previous', 'hash', 'reason', 'directory', 'stack', 'started', 'ended'];
  return (
    value['version'] === 1 &&
    isCount(value['seq']) &&
    value['seq'] > 0 &&
    isCount(value['duration_ms']) &&
    ['PASS', 'FAIL', 'NOT_VERIFIED'].includes(String(value['status'])) &&
    texts.every((key) => typeof value[key] === 'string') &&
    isTable(contract) &&
    ['script', 'builtin'].includes(String(contract['kind'])) &&
    isTable(tree) &&
    typeof tree['digest'] === 'string' &&
    (git === undefined || (isTable(git) && typeof git['dirty'] === 'boolean')) &&
    Array.isArray(steps) &&
    Array.isArray(stacks) &&
    stacks.every((stack) => typeof stack === 'string')
  );
}

export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
