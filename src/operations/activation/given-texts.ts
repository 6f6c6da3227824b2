import type { Call } from '../context.ts';

const GIVEN_KEPT = 40;

/** A text as a conversation knows it. */
export interface GivenKey {
  /** Whose text, in which project. */
  of: string;
  digest: string;
}

/**
 * Whether a conversation has a whole text already, and the same one. Who asks again in the same words has not got the answer,
 * whatever was sent: hosts retry and forget, and some have several conversations on one connection.
 */
export function hasText({ recent }: Call, { of, digest }: GivenKey, words: string): boolean {
  const known = recent?.given?.get(of);
  if (known === undefined || known.digest !== digest || known.next !== undefined) return false;
  if (known.answered === words) return false;
  known.answered = words;
  return true;
}

/** Takes note that a text was given, up to the cursor of its next part. */
export function noteGiven(
  { recent, signal }: Call,
  { of, digest }: GivenKey,
  next: string | undefined,
  words: string,
): void {
  const given = recent?.given;
  if (given === undefined || signal.aborted) return;
  given.delete(of);
  if (given.size >= GIVEN_KEPT) given.delete(given.keys().next().value ?? '');
  // Without a message there is nothing to tell a second start from a first that got lost.
  given.set(of, { digest, next, ...(words === '' ? {} : { answered: words }) });
}

/** Takes note that the next part of a text was read; one that was left out leaves the text unread. */
export function noteReadOn(
  { recent }: Call,
  { of, digest }: GivenKey,
  cursor: string,
  next: string | undefined,
): void {
  const known = recent?.given?.get(of);
  if (known?.digest === digest && known.next === cursor) known.next = next;
}
