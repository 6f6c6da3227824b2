import { t } from './text/message.ts';
import { hash } from 'node:crypto';
import { BmadError, quoted } from './errors.ts';
import type { Step } from './step.ts';

export function sha256(content: string | Buffer): string {
  return hash('sha256', content);
}

/** So many digits are shown to people and asked for: nobody finds a second text for them. */
const DIGITS = 16;

export const shortDigest = (content: string): string => sha256(content).slice(0, DIGITS);

/** A decision counts for the text that was read, not for what has taken its place since. */
export function checkRead(id: string, given: string, current: string, steps: readonly Step[] = []): void {
  if (given === current) return;
  const message = t`${id} is not what was read: its digest is ${current}, not ${quoted(given)}.`;
  const hint = t`It has changed since, or the digest is that of something else.`;
  throw new BmadError('conflict', message, { subject: id, hint, steps });
}
