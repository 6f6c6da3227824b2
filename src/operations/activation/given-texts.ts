import { present } from '../../base/present.ts';
import { sha256 } from '../../base/sha256.ts';
import type { Step } from '../../base/step.ts';
import { byteLength } from '../../base/text/text.ts';
import { qualifiedName } from '../../model/record.ts';
import { startOf } from '../catalogue/targets.ts';
import type { Activation, Call, Workspace } from '../context.ts';

/** The steps of a workflow are texts too, a dozen of them. */
const GIVEN_KEPT = 120;

/** A text as a conversation knows it. */
export interface GivenKey {
  /** Whose text, in which project. */
  of: string;
  digest: string;
}

/** The text of an agent or of its work, as a conversation knows it. */
export function textKey(
  { record, body, material }: Activation,
  { project: { root } }: Workspace,
  project: string | undefined,
): GivenKey {
  const place = [root, project, record.origin.displayName, record.kind, qualifiedName(record)];
  const known = digests.get(material);
  const digest = known?.body === body ? known.digest : sha256(body);
  digests.set(material, { body, digest });
  return { of: JSON.stringify(place), digest };
}

/** What is made of the same material has the same text, as a rule. */
const digests = new WeakMap<Activation['material'], { body: string; digest: string }>();

/** A longer message is not written out again. */
const REPEATED = 300;

/** What is shorter is as quickly given again. */
const WORTH = 2_000;

/** Whether a text may be left out at all: what must not be started, or has something wrong with it, is told whole. */
export function mayBeLeftOut({ lead, problems, body }: Activation): boolean {
  return lead !== undefined && problems.length === 0 && isWorthLeavingOut(body);
}

export function isWorthLeavingOut(text: string): boolean {
  return byteLength(text) >= WORTH;
}

/**
 * Whether a conversation has a whole text already, and the same one. Who asks again at once and in the same words has not
 * got the answer, whatever was sent: hosts retry and forget. With other calls in between it is the next round of the same
 * work: a story is reviewed again once it has been repaired, and the next one is drafted.
 */
export function hasText({ recent }: Call, { of, digest }: GivenKey, words: string): boolean {
  const known = recent?.given?.get(of);
  if (known === undefined || known.digest !== digest || known.next !== undefined) return false;
  const { turn } = recent ?? { turn: 0 };
  if (known.answered?.words === words && known.answered.turn === turn - 1) return false;
  known.answered = { words, turn };
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
  given.set(of, { digest, next, ...(words === '' ? {} : { answered: { words, turn: recent?.turn ?? 0 } }) });
}

/** Whether a conversation has not been told a line yet; from now on it has. */
export function toldOnce(call: Call, line: string, words: string): boolean {
  const key = { of: line, digest: '' };
  if (hasText(call, key, words)) return false;
  noteGiven(call, key, undefined, words);
  return true;
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

/** Why a text is not there, and what to do without it. */
export const GIVEN_BEFORE =
  'Its text was given earlier in this session and has not changed; if you do not have it, ask for it first.';

/** The same call, so that the text comes whatever was given before: its inputs hang on the message. */
export function wholeAgain(
  { record }: Activation,
  {
    message,
    origin,
    project,
  }: { message?: string | undefined; origin?: string | undefined; project: string | undefined },
): Step {
  const words = message === '' || byteLength(message ?? '') > REPEATED ? undefined : message;
  return {
    operation: 'execute',
    args: present({ ...startOf(record), message: words, origin, detail: 'full', project }),
    why: record.kind === 'agent' ? 'Get its text again' : `Get the text of the ${record.kind} again`,
  };
}
