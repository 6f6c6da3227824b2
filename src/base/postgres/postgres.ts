import pg from 'pg';
import { BmadError, type ErrorCode, systemCode } from '../errors.ts';
import { readState } from '../files/file-state.ts';
import type { Step } from '../step.ts';
import { t } from '../text/message.ts';
import { type Address, readAddress } from './address.ts';

/** The one door to PostgreSQL: connections, their limits, and what their failures mean to a caller. */

const CONNECTIONS = 8;
const CONNECT_MS = 5_000;
const STATEMENT_MS = 10_000;
const LOCK_MS = 5_000;
const IDLE_IN_TRANSACTION_MS = 15_000;
/** Longer than the server takes to give up itself: for one that says nothing at all any more. */
const SILENT_MS = 20_000;
const IDLE_MS = 60_000;
const AGAIN_S = 2;
const LISTEN_AGAIN_MS = [200, 1_000, 5_000];

export type Value = string | number | boolean | null | readonly string[] | readonly number[];

export interface Asked {
  query<R extends object>(text: string, values?: readonly Value[]): Promise<R[]>;
}

export class Database implements Asked {
  /** For people: where it is, without the password. */
  readonly shown: string;
  readonly #options: pg.PoolConfig;
  #pool: pg.Pool;
  #isBehindPooler = false;
  readonly #listeners = new Set<() => void>();
  /** Why it could not be used last; nothing when it could. */
  trouble: BmadError | undefined;

  private constructor(address: Address, authorities: string | undefined) {
    const { shown, host, port, database, user, password, tls } = address;
    this.shown = shown;
    const checked = {
      rejectUnauthorized: tls !== 'private',
      ...(authorities === undefined ? {} : { ca: authorities }),
      ...(tls === 'vouched' ? { checkServerIdentity: () => undefined } : {}),
    };
    this.#options = {
      host,
      port,
      database,
      user,
      password,
      ssl: tls === 'off' ? false : checked,
      application_name: 'bmad-mcp-server',
      keepAlive: true,
      max: CONNECTIONS,
      connectionTimeoutMillis: CONNECT_MS,
      idleTimeoutMillis: IDLE_MS,
      query_timeout: SILENT_MS,
      // A command that has its answer ends; idle connections do not hold it up.
      allowExitOnIdle: true,
    };
    this.#pool = this.#newPool();
  }

  /** At an address, or the one that a file has. `secret` hears the password, to keep it out of logs and answers. */
  static async at(given: string, secret?: (password: string) => void): Promise<Database> {
    const address = await readAddress(given);
    if (address.password !== undefined) secret?.(address.password());
    const { authorities } = address;
    const text = authorities === undefined ? undefined : await readState(authorities);
    if (authorities !== undefined && text === undefined)
      throw new BmadError('invalid_input', t`There is no file ${authorities} of authorities (sslrootcert).`, {
        subject: 'state',
      });
    return new Database(address, text);
  }

  /** Whether each statement may go to another connection of the server, so that nothing can be listened to. */
  get isBehindPooler(): boolean {
    return this.#isBehindPooler;
  }

  #newPool(): pg.Pool {
    const pool = new pg.Pool(this.#bounded());
    // A connection that ends while nobody asks anything is replaced by the next one who does.
    pool.on('error', () => undefined);
    pool.on('connect', (client) => client.on('error', () => undefined));
    return pool;
  }

  #bounded(): pg.PoolConfig {
    if (this.#isBehindPooler) return this.#options;
    return {
      ...this.#options,
      password: this.#options.password,
      statement_timeout: STATEMENT_MS,
      lock_timeout: LOCK_MS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    };
  }

  /** What a failure means, which is known until something works again. */
  #failed(error: unknown, when: 'before' | 'during'): unknown {
    const failure = failureOf(error, this.shown, when);
    if (failure instanceof BmadError && failure.reason !== undefined) this.trouble = failure;
    return failure;
  }

  async #client(): Promise<pg.PoolClient> {
    const pool = this.#pool;
    try {
      return await pool.connect();
    } catch (error) {
      // Poolers that take no limits with the connection bound statements themselves.
      if (!(error instanceof Error) || !/unsupported startup parameter/i.test(error.message))
        throw this.#failed(error, 'before');
      if (!this.#isBehindPooler) {
        this.#isBehindPooler = true;
        this.#pool = this.#newPool();
      }
      return this.#pool.connect().catch((again: unknown) => {
        throw this.#failed(again, 'before');
      });
    }
  }

  /** One statement. Where the connection is lost meanwhile, nobody knows whether it counts: the failure says `uncertain`. */
  async query<R extends object>(text: string, values: readonly Value[] = []): Promise<R[]> {
    const client = await this.#client();
    let failure: unknown;
    try {
      const { rows } = await client.query<R>(text, [...values]);
      this.trouble = undefined;
      return rows;
    } catch (error) {
      failure = error;
      throw this.#failed(error, 'during');
    } finally {
      client.release(isLost(failure));
    }
  }

  /** One statement that changes nothing: asked again where its connection turns out to have ended. */
  async read<R extends object>(text: string, values: readonly Value[] = []): Promise<R[]> {
    try {
      return await this.query<R>(text, values);
    } catch (error) {
      if (!isUncertain(error)) throw error;
      return this.query<R>(text, values).catch((again: unknown) => {
        throw isUncertain(again) ? unreachable(this.shown, again) : again;
      });
    }
  }

  /** All or nothing. A failure before the end has changed nothing; one at the end is `uncertain`. */
  async transaction<T>(work: (asked: Asked) => Promise<T>): Promise<T> {
    const client = await this.#client();
    let failure: unknown;
    let isEnding = false;
    const asked: Asked = {
      query: async (text, values = []) => (await client.query<never>(text, [...values])).rows,
    };
    try {
      await client.query('begin');
      const answer = await work(asked);
      isEnding = true;
      await client.query('commit');
      this.trouble = undefined;
      return answer;
    } catch (error) {
      failure = error;
      if (!isEnding && !isLost(error))
        await client.query('rollback').catch((lost: unknown) => (failure = lost));
      throw this.#failed(error, isEnding ? 'during' : 'before');
    } finally {
      client.release(isLost(failure) || isEnding === (failure !== undefined));
    }
  }

  /** Calls when something was said on a channel, and whenever that may have been missed. Ends with the database. */
  listen(channel: string, heard: (payload: string | undefined) => void): () => void {
    let client: pg.Client | undefined;
    let timer: NodeJS.Timeout | undefined;
    let [isOver, failures] = [false, 0];
    const again = (): void => {
      if (isOver || timer !== undefined) return;
      const wait = LISTEN_AGAIN_MS[Math.min(failures, LISTEN_AGAIN_MS.length - 1)];
      failures += 1;
      timer = setTimeout(() => {
        timer = undefined;
        void begin();
      }, wait);
      timer.unref();
    };
    const begin = async (): Promise<void> => {
      const { max: _max, query_timeout: _silent, ...options } = this.#options;
      const own = new pg.Client(options);
      client = own;
      own.on('error', () => undefined);
      own.on('notification', ({ payload }) => heard(payload));
      own.on('end', () => {
        heard(undefined);
        again();
      });
      try {
        await own.connect();
        failures = 0;
        this.trouble = undefined;
        this.#isBehindPooler ||= await isPooled(own);
        if (this.#isBehindPooler) return end();
        await own.query(`listen ${channel}`);
        heard(undefined);
      } catch (error) {
        // Who only follows is told too, without a call that fails.
        const isNews = this.trouble === undefined;
        this.#failed(error, 'before');
        if (isNews) heard(undefined);
        await own.end().catch(() => undefined);
        again();
      }
    };
    const end = (): void => {
      isOver = true;
      clearTimeout(timer);
      this.#listeners.delete(end);
      void client?.end().catch(() => undefined);
    };
    this.#listeners.add(end);
    void begin();
    return end;
  }

  async close(): Promise<void> {
    for (const end of this.#listeners) end();
    await this.#pool.end().catch(() => undefined);
  }
}

export const isUncertain = (error: unknown): boolean =>
  error instanceof BmadError && error.reason === 'uncertain';

/**
 * Whether something stands between that may give each statement to another connection of the server: it counts connections
 * itself, also where it accepts and forgets the limits that are asked for. What is listened to there, nobody hears.
 */
async function isPooled(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid !== Reflect.get(client, 'processID');
}

function sqlState(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^(?=.*\d)[0-9A-Z]{5}$/.test(code) ? code : '';
}

/** Whether the connection is gone: the server has ended it, or what came is no answer of a server. */
const isLost = (error: unknown): boolean =>
  error !== undefined && (/^(?:57P0[1-5]|08\w{3}|25P03)$/.test(sqlState(error)) || sqlState(error) === '');

interface Meaning {
  code: ErrorCode;
  message: (shown: string) => string;
  hint: string;
  steps?: readonly Step[];
}

/** For the owner of a database, with its address. */
export const makeTables = (): Step => ({
  operation: 'state_migrate',
  why: t`Make the tables, as their owner`,
});

/** What people can do about the answers of a server that are not about a single call. */
const MEANINGS: readonly (readonly [RegExp, () => Meaning])[] = [
  [
    /^28/,
    () => ({
      code: 'forbidden',
      message: (shown) => t`The database ${shown} refuses this user or password.`,
      hint: t`Correct the address in the setting state (BMAD_STATE). A server that takes encrypted connections only refuses so too: add sslmode=verify-full or sslmode=require.`,
    }),
  ],
  [
    /^3D000$/,
    () => ({
      code: 'not_found',
      message: (shown) => t`The database ${shown} does not exist on that server.`,
      hint: t`Create it (createdb), then make its tables.`,
      steps: [makeTables()],
    }),
  ],
  [
    /^(?:42P01|3F000|42703)$/,
    () => ({
      code: 'unavailable',
      message: (shown) => t`The database ${shown} has no tables of this server, or older ones.`,
      hint: t`The owner of the database makes them.`,
      steps: [makeTables()],
    }),
  ],
  [
    /^42501$/,
    () => ({
      code: 'forbidden',
      message: (shown) => t`The database user of ${shown} may not do this.`,
      hint: t`The owner of the database gives the rights to rows.`,
      steps: [
        {
          operation: 'state_migrate',
          args: { grant: '…' },
          why: t`Give this user the rights, as the owner`,
        },
      ],
    }),
  ],
  [
    /^25006$/,
    () => ({
      code: 'unavailable',
      message: (shown) => t`The database ${shown} is read-only at the moment.`,
      hint: t`It may be a replica, or be switched over. Nothing was written; try again later.`,
    }),
  ],
  [
    /^53(?:100|200)$/,
    () => ({
      code: 'unavailable',
      message: (shown) => t`The database ${shown} is full, or out of memory.`,
      hint: t`Nothing was written. Make room on its machine.`,
    }),
  ],
  [
    /^(?:53300|53400)$/,
    () => ({
      code: 'unavailable',
      message: (shown) => t`The database ${shown} has no free connection.`,
      hint: t`Each server uses up to ${CONNECTIONS + 1}: raise max_connections, or put a pooler before it.`,
    }),
  ],
  [
    /^(?:57014|55P03)$/,
    () => ({
      code: 'unavailable',
      message: (shown) => t`The database ${shown} took too long and was stopped.`,
      hint: t`Nothing was written. Try again in a moment.`,
    }),
  ],
];

/** No text of the server or the driver gets into it: the cause has that, and the log may show it. */
function failureOf(error: unknown, shown: string, when: 'before' | 'during'): unknown {
  if (error instanceof BmadError || error instanceof TypeError || error instanceof RangeError) return error;
  if (isLost(error)) {
    if (when === 'before') return unreachable(shown, error);
    return new BmadError(
      'unavailable',
      t`The connection to the database ${shown} ended in the middle of a change.`,
      {
        reason: 'uncertain',
        hint: t`Whether it was made is not known: look before you repeat it.`,
        seconds: AGAIN_S,
        cause: error,
      },
    );
  }
  const state = sqlState(error);
  const found = MEANINGS.find(([pattern]) => pattern.test(state))?.[1]();
  if (found === undefined) return error;
  const { code, message, hint, steps = [] } = found;
  return new BmadError(code, message(shown), {
    reason: 'database',
    hint,
    steps,
    seconds: AGAIN_S,
    cause: error,
  });
}

const ADVICE: Readonly<Record<string, () => string>> = {
  ENOTFOUND: () => t`Nothing has that host's name. Check the address.`,
  ECONNREFUSED: () => t`Nothing listens there. Start the database, or check host and port.`,
  ENOENT: () => t`There is no such socket. Start the database, or check its folder.`,
  CERT_HAS_EXPIRED: () => t`Its certificate has expired.`,
  ERR_TLS_CERT_ALTNAME_INVALID: () =>
    t`Its certificate is for another name. Use that name in the address, or sslmode=verify-ca.`,
};

/** What Node calls certificates that nobody known vouches for. */
const UNKNOWN_AUTHORITY = /^(?:SELF_SIGNED_CERT|DEPTH_ZERO_SELF_SIGNED|UNABLE_TO_)/;

function adviceOn(code: string): string {
  if (UNKNOWN_AUTHORITY.test(code))
    return t`No authority known here vouches for its certificate. Name the file with its authority as sslrootcert in the address.`;
  return ADVICE[code]?.() ?? t`Nothing was written. It is tried again with the next call.`;
}

export const unreachable = (shown: string, cause: unknown): BmadError =>
  new BmadError('unavailable', t`The database ${shown} cannot be reached.`, {
    reason: 'database',
    hint: adviceOn(systemCode(cause) ?? ''),
    seconds: AGAIN_S,
    cause,
  });
