import { callerOf, markOf, tokenDigits } from '../base/caller.ts';
import { BmadError, type ErrorCode } from '../base/errors.ts';
import { type Caller, callerKey } from '../base/http/http-route.ts';
import { t } from '../base/text/message.ts';
import { present } from '../base/values.ts';
import { type Call, type Called, type Context, inProject, type Observed } from './context.ts';

/** What an id looks like: no text of a person does. */
const ID = /^[\w.:@-]{1,100}$/;
const IDS = ['task_id', 'run_id', 'contract_id', 'checkpoint_id', 'id'];
/** Where answers have what they are about. */
const OF_ANSWERS = ['task', 'run', 'memory', 'contract'];

/** What a caller over HTTP brings to a call, by whatever surface it comes. */
export function broughtBy(caller: Caller) {
  const { name: callerName, bounds, own, person, mayWrite } = caller;
  const may = { mayWrite, ownToken: own === true, person: person === true };
  return { overHttp: true, caller: callerKey(caller), callerName, bounds, ...may };
}

type Data = Readonly<Record<string, unknown>>;

/** What there is to say of one call, without its arguments. */
export function observedCall(operation: string, call: Partial<Call>): Called {
  const { name = '', kind = 'local', host, session } = callerOf(call);
  const by = { kind, name, token: tokenDigits(call.caller), host, session };
  return { operation, by: present<Observed['by']>(by) };
}

interface Ended {
  began: number;
  writes: boolean;
  input: Data;
  data?: Data | undefined;
  error?: Pick<BmadError, 'code'> & Partial<Pick<BmadError, 'reason'>>;
}

/** Tells the observer, where there is one, that a call is over; waits until that is kept where it changes something. */
export async function tellOfEnd(
  { observe, secrets, workspace }: Context,
  called: Called,
  { began, writes, input, data, error }: Ended,
): Promise<void> {
  if (observe === undefined) return;
  const ms = Math.round((performance.now() - began) * 1_000) / 1_000;
  const target = idIn(input) ?? idIn(data ?? {});
  await observe(
    present<Observed>({
      ...called,
      ms,
      writes,
      code: error?.code,
      reason: error?.reason,
      target: target === undefined ? undefined : secrets.redact(target),
      // Whatever the caller has called it; a folder that is not served is not named.
      project: async () => (await workspace().catch(() => undefined))?.project.root,
    }),
  );
}

/**
 * Tells of a call that was refused before its operation had its input. The project that it names may be any text: as
 * everywhere, one that is not served is none.
 */
export function tellOfRefusal(
  context: Context,
  operation: string,
  call: Partial<Call>,
  raw?: unknown,
  code: ErrorCode = 'forbidden',
): Promise<void> {
  const ended: Ended = { began: performance.now(), writes: false, input: {}, error: { code } };
  return tellOfEnd(inProject(context, projectIn(raw)), observedCall(operation, call), ended);
}

export function projectIn(raw: unknown): string | undefined {
  const { project } = (raw ?? {}) as { project?: unknown };
  return typeof project === 'string' ? project : undefined;
}

function idIn(data: Data): string | undefined {
  const within = OF_ANSWERS.map((key) => data[key]).find((value) => typeof value === 'object');
  const ids = [data, (within ?? {}) as Data].flatMap((one) => IDS.map((key) => one[key]));
  return ids.find((id): id is string => typeof id === 'string' && ID.test(id));
}

export interface Once<T, M> {
  outcome: T;
  made?: M | undefined;
}

/** A call that its caller may make again: only the first time is it made. Tells whether this is an earlier answer. */
export async function once<T, M>(
  { meant, input }: { meant: { name: string }; input: Data },
  { workspace, again, secrets, state }: Context,
  { key = '', caller = '' }: Call,
  work: () => Promise<Once<T, M>>,
): Promise<[Once<T, M>, boolean]> {
  const { project } = await workspace();
  let made: M | undefined;
  const first = async () => {
    try {
      const done = await work();
      made = done.made;
      return done.outcome;
    } catch (error) {
      throw error instanceof BmadError ? error.map((text) => secrets.redact(text)) : error;
    }
  };
  const shared = project.root === undefined ? undefined : await (await state()).again();
  // In a database, the project is known already, and each machine has it in another folder.
  const kept = { operation: meant.name, project: shared === undefined ? project.root : '', input };
  const [done, before] = await (shared ?? (await again()))
    .run({ key, caller, input: kept }, first)
    .catch(async (error: unknown) => {
      if (!(error instanceof BmadError) || error.reason !== 'lost') throw error;
      const lines = await (await state()).writtenBy(markOf({ caller, key }) ?? '').catch(() => []);
      throw error.with({ hint: secrets.redact(whatBecame(lines)) });
    });
  return [{ outcome: done, made }, before];
}

/** A name that was taken is part of what has it. */
const NAMES = 'name/';

function whatBecame(lines: readonly string[]): string {
  const written = [...new Set(lines)].filter((one) => !one.startsWith(NAMES));
  return written.length === 0
    ? t`It has written no task, run, memory or handoff. Check what else it changes; if it has not, call again with another key.`
    : t`It has written ${written.join(', ')}. Look at that, and call again with another key only for what is missing.`;
}

/** Whoever comes over HTTP learns neither where this machine keeps something nor what runs on it. */
export function withoutPlaces(error: BmadError, { overHttp }: Call): BmadError {
  if (overHttp !== true || error.reason !== 'locked') return error;
  return new BmadError('unavailable', t`Something else is changing the same files.`, {
    reason: 'locked',
    seconds: 2,
    hint: t`Try again in a few seconds.`,
  });
}
