import { join } from 'node:path';
import { BmadError, ERROR_CODES } from '../../base/errors.ts';
import { withLock } from '../../base/files/file-lock.ts';
import { modifiedAt, readState, stateNames, writeAtomic } from '../../base/files/file-state.ts';
import { removeFile } from '../../base/files/open-file.ts';
import { jsonObject } from '../../base/parse/json.ts';
import { t } from '../../base/text/message.ts';
import { isObject, sha256, present } from '../../base/values.ts';
import type { KeptRequest, RequestKey, RequestPlace } from '../../model/client.ts';

/**
 * The first answers of calls that may be made again, by the key that the caller has given. A lock says that a call is under
 * way, wherever its server runs; a record without an answer and without a lock is of one that was cut.
 */

const FOLDER = 'again';
const ENDING = '.json';
const KEPT_MS = 24 * 60 * 60_000;
const SWEPT_MS = 60 * 60_000;
const KEY = /^[\x21-\x7e]{1,255}$/;

export interface Keyed extends RequestKey {
  /** What is asked for: the operation, the project and the arguments. */
  input: unknown;
}

export type Again = ReturnType<typeof openAgain>;

/** On this machine, a file each. */
export function requestFiles(state: string, now: () => number = Date.now): RequestPlace {
  const folder = join(state, FOLDER);
  const fileOf = ({ key, caller }: RequestKey): string =>
    join(folder, sha256(JSON.stringify([caller, key])) + ENDING);
  let swept = -Infinity;

  async function sweep(): Promise<void> {
    if (performance.now() < swept + SWEPT_MS) return;
    swept = performance.now();
    for (const name of (await stateNames(folder)).filter((each) => each.endsWith(ENDING))) {
      const file = join(folder, name);
      if (now() - ((await modifiedAt(file)) ?? now()) > KEPT_MS)
        await removeFile(file).catch(() => undefined);
    }
  }

  return {
    async alone(request, work) {
      const file = fileOf(request);
      await sweep();
      return withLock(`${file}.lock`, { waitMs: 0 }, async () => {
        const text = await readState(file);
        return work(text === undefined ? undefined : ((jsonObject(text) ?? {}) as unknown as KeptRequest));
      });
    },
    keep: (request, kept) => writeAtomic(fileOf(request), `${JSON.stringify(kept)}\n`, { mode: 0o600 }),
    remove: (request) => removeFile(fileOf(request)),
  };
}

export function openAgain(place: RequestPlace, now: () => number = Date.now) {
  /** Runs the work unless it was run before; then its first answer is given. */
  async function run<T>({ input, ...request }: Keyed, work: () => Promise<T>): Promise<[T, boolean]> {
    if (!KEY.test(request.key))
      throw new BmadError('invalid_input', t`An idempotency key has 1 to 255 visible ASCII characters.`, {
        hint: t`Make a new one for each thing to do, such as a UUID, and send it again with each retry.`,
      });
    const digest = sha256(sorted(input));
    let entered = false;
    const once = async (kept: KeptRequest | undefined): Promise<[T, boolean]> => {
      entered = true;
      if (kept !== undefined && !(now() - Date.parse(kept.at) > KEPT_MS))
        return [before<T>(kept, digest), true];
      return [await first(request, digest, work), false];
    };
    return place.alone(request, once).catch((error: unknown) => {
      if (entered || !(error instanceof BmadError) || error.reason !== 'locked') throw error;
      throw new BmadError('conflict', t`A call with this idempotency key is under way.`, {
        reason: 'busy',
        hint: t`Wait for its answer, or send the same call again a little later: it gets that answer.`,
      });
    });
  }

  async function first<T>(request: RequestKey, digest: string, work: () => Promise<T>): Promise<T> {
    const kept: KeptRequest = { at: new Date(now()).toISOString(), input: digest };
    const keep = (more: Partial<KeptRequest>): Promise<void> => place.keep(request, { ...kept, ...more });
    await keep({});
    try {
      const answer = await work();
      // What is done is done, and is answered; without its record, the next try hears that nobody knows.
      await keep({ answer }).catch(() => undefined);
      return answer;
    } catch (error) {
      if (!(error instanceof BmadError) || error.code === 'cancelled') throw error;
      const { code, message, hint, steps, subject, suggestions, differences } = error;
      const details = { ...present({ hint }), steps, suggestions, differences };
      // What is worth another try has to be tried then.
      if (ERROR_CODES[code].retry) await place.remove(request).catch(() => undefined);
      else
        await keep({
          error: { code, message, details: { ...details, ...present({ subject }) } },
        }).catch(() => undefined);
      throw error;
    }
  }

  return { run };
}

/** What the first call was answered. */
function before<T>({ at = '?', input, answer, error }: Partial<KeptRequest>, digest: string): T {
  if (input !== digest && input !== undefined)
    throw new BmadError('conflict', t`This idempotency key was used for another call.`, {
      reason: 'reused',
      hint: t`Use a new key for each thing to do. A key is kept for 24 hours.`,
    });
  if (error !== undefined) throw new BmadError(error.code, error.message, error.details);
  if (answer !== undefined) return answer as T;
  throw new BmadError('conflict', t`The call with this key began at ${at} and was cut before its end.`, {
    reason: 'lost',
  });
}

/** The same text for the same values, in whatever order they were given. */
function sorted(value: unknown): string {
  return JSON.stringify(value, (_key, one: unknown) =>
    isObject(one) ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1))) : one,
  );
}
