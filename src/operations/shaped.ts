import { t } from '../base/text/message.ts';
import { isDeepStrictEqual } from 'node:util';
import type { BmadError } from '../base/errors.ts';
import type { Step } from '../base/step.ts';
import { cutToFit } from '../base/text/markdown.ts';
import { answerRoom } from '../base/text/paging.ts';
import { byteLength, kilobytes } from '../base/text/text.ts';
import type { SettingsPort } from './context.ts';
import type { AnyOperation, Answer } from './operation.ts';

/** From this size on nobody counts: command lines and programs take what there is. */
const UNLIMITED = 400_000;
/** Room for the note, with what is said here. */
const NOTE = 600;
/** Arguments that make an answer smaller or say which part of it is wanted. */
const NARROWING = ['query', 'limit', 'type', 'agent', 'branch', 'status', 'run_id', 'module', 'category'];

/** A call that gives more of the same answer when it is made again. */
export interface Repeated {
  operation: AnyOperation;
  input: Readonly<Record<string, unknown>>;
}

/**
 * The last check of every answer: one that its operation has not kept small itself is cut at a good place, and says so.
 * Operations with a cursor or a budget of their own have shaped their answers already; files are never changed.
 */
export function shaped(
  { again: more, ...answer }: Answer,
  { input: { shape }, answersData, effect }: AnyOperation,
  repeated: Repeated,
  { config }: SettingsPort,
): Answer {
  if (more !== undefined)
    return { ...answer, steps: [...(answer.steps ?? []), again(repeated, more.args, more.why)] };
  const limit = config.answerBytes;
  const isOwn = 'cursor' in shape || 'budget' in shape || answersData === true || answer.exact === true;
  if (isOwn || limit >= UNLIMITED || repeated.input['detail'] === 'full') return answer;
  const size = byteLength(answer.body);
  if (size + byteLength(answer.note ?? '') <= limit) return answer;
  const body = cutToFit(answer.body, answerRoom(limit, NOTE));
  // For what writes, a run is where something is kept, and makes no answer smaller.
  const ways = NARROWING.filter((name) => name in shape && (name !== 'run_id' || effect === 'read'));
  const narrowing = ways.length === 0 ? '' : t` To narrow it: ${ways.join(', ')}.`;
  const said = t`CUT after ${kilobytes(byteLength(body))} of ${kilobytes(size)}.${narrowing}`;
  const whole = 'detail' in shape ? [again(repeated, { detail: 'full' }, t`Read all of it`)] : [];
  return {
    ...answer,
    body,
    note: [answer.note, said].filter(Boolean).join(' '),
    steps: [...(answer.steps ?? []), ...whole],
  };
}

/** What counts for the first part of an answer only, though some tools always want it. */
const FIRST_ONLY = new Set(['message', 'context', 'params']);
/** What is longer is not written out again. */
const REPEATED_LENGTH = 200;

/** The same call with something changed, without what it need not repeat. */
function again(
  { operation: { name, input: schema }, input }: Repeated,
  changed: Readonly<Record<string, unknown>>,
  why: string,
): Step {
  const unset = (key: string) => schema.shape[key]?.safeParse(undefined);
  const given = Object.entries(input).filter(([key, value]) => {
    if (key in changed) return false;
    const usual = unset(key);
    if (usual?.success !== true) return true;
    return !('cursor' in changed && FIRST_ONLY.has(key)) && !isDeepStrictEqual(usual.data, value);
  });
  const isLong = ([, value]: [string, unknown]): boolean =>
    typeof value === 'string' && value.length > REPEATED_LENGTH;
  const kept = given.filter((entry) => !isLong(entry));
  const open = given.filter(isLong).map(([key]) => key);
  return {
    operation: name,
    args: { ...Object.fromEntries(kept), ...changed },
    ...(open.length === 0 ? {} : { open }),
    why,
  };
}

/** The error of a cursor that does not fit, with the call that begins again. */
export function fromTheStart(error: BmadError, repeated: Repeated | undefined): BmadError {
  if (error.subject !== 'cursor' || error.steps.length > 0 || repeated === undefined) return error;
  const { cursor: _cursor, ...input } = repeated.input;
  return error.with({ steps: [again({ ...repeated, input }, {}, t`Begin again`)] });
}
