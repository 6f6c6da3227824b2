import { BmadError, ours } from '../../base/errors.ts';
import { jsonObject } from '../../base/parse/json.ts';
import type { Database } from '../../base/postgres/postgres.ts';
import { t } from '../../base/text/message.ts';
import { type SharedProject, stored } from '../../lines/database.ts';
import {
  type AuditFilter,
  type AuditLine,
  auditLineSchema,
  type AuditRow,
  type KeptRequest,
  type RequestKey,
  type RequestPlace,
  type SharedAudit,
} from '../../model/client.ts';

/**
 * The audits of all machines, as rows beside the lines: they are about no one project, and none of those who follow its lines
 * has to pass them by. A server adds rows and reads them; its user may neither change nor remove any.
 */
export class AuditRows implements SharedAudit {
  readonly at: string;
  readonly #opened: () => Promise<Database>;
  readonly #machine: () => Promise<string>;

  constructor(at: string, opened: () => Promise<Database>, machine: () => Promise<string>) {
    this.at = at;
    this.#opened = opened;
    this.#machine = machine;
  }

  async kept(): Promise<Map<string, number>> {
    const rows = await (
      await this.#opened()
    ).read<{ day: string; number: number }>(
      'select day::text, max(number) as number from bmad.audit where machine = $1 group by day',
      [await this.#machine()],
    );
    return new Map(rows.map(({ day, number }) => [day, number]));
  }

  async add(rows: readonly AuditRow[]): Promise<void> {
    const made = rows.map(({ line, host, ...row }) => ({
      ...row,
      host: stored(host),
      at: line.at,
      caller: [line.by.kind, line.by.name, line.by.token ?? ''].map((each) => stored(each.toLowerCase())),
      operation: stored(line.operation),
      outcome: stored(line.outcome),
      body: JSON.stringify(line),
    }));
    await (await this.#opened()).query(ADD, [await this.#machine(), JSON.stringify(made)]);
  }

  async read({ since, caller, operation, outcome, limit }: AuditFilter) {
    const rows = await (
      await this.#opened()
    ).read<{ machine: string; host: string; body: string; total: string }>(READ, [
      Math.max(0, since),
      caller?.toLowerCase() ?? null,
      operation ?? null,
      outcome ?? null,
      limit,
    ]);
    const lines = rows.toReversed().flatMap(({ machine, host, body }): AuditLine[] => {
      const { data } = auditLineSchema.safeParse(jsonObject(body));
      return data === undefined ? [] : [{ ...data, machine: `${host} ${machine}` }];
    });
    return { lines, more: Number(rows[0]?.total ?? 0) - rows.length };
  }
}

const ADD = `INSERT into bmad.audit (machine, day, number, host, at, caller, operation, outcome, body)
  select $1, day::date, number, host, at::timestamptz, array(select json_array_elements_text(caller)), operation, outcome, body
  from json_to_recordset($2) as
    row (day text, number integer, host text, at text, caller json, operation text, outcome text, body text)
  on conflict do nothing`;

const READ = `SELECT machine, host, body, count(*) over () as total from bmad.audit
  where at >= to_timestamp($1::double precision / 1000) and ($2::text is null or $2 = any(caller))
  and ($3::text is null or operation = $3) and ($4::text is null or outcome = $4)
  order by at desc, number desc limit $5`;

/** Who has a key says so again and again; one that has been silent for longer was cut. */
const HELD_MS = 5_000;
const SILENT = '15 seconds';
const KEPT = '24 hours';

/** Calls that may be made again, as rows that all servers of a team see. */
export class RequestRows implements RequestPlace {
  readonly #opened: () => Promise<SharedProject>;

  constructor(opened: () => Promise<SharedProject>) {
    this.#opened = opened;
  }

  async alone<T>(request: RequestKey, work: (kept: KeptRequest | undefined) => Promise<T>): Promise<T> {
    const kept = await this.#held(request);
    const beat = setInterval(() => void this.#set(request, 'held = now()').catch(() => undefined), HELD_MS);
    try {
      return await work(kept);
    } finally {
      clearInterval(beat);
      await this.#set(request, 'held = null').catch(ours(() => undefined));
    }
  }

  async #held({ caller, key }: RequestKey): Promise<KeptRequest | undefined> {
    const { database, id } = await this.#opened();
    const values = [id, caller, key];
    await database.query('delete from bmad.request where project = $1 and until < now()', [id]);
    const [row] = await database.query<{ answer: string | null }>(
      `insert into bmad.request as known (project, caller, key, held, until)
      values ($1, $2, $3, now(), now() + interval '${KEPT}')
      on conflict (project, caller, key) do update set held = now()
      where known.held is null or known.held < now() - interval '${SILENT}' returning answer`,
      values,
    );
    if (row === undefined)
      throw new BmadError('conflict', t`A call with this idempotency key is under way.`, {
        reason: 'locked',
      });
    return row.answer === null ? undefined : (jsonObject(row.answer) as KeptRequest | undefined);
  }

  keep(request: RequestKey, kept: KeptRequest): Promise<void> {
    return this.#set(request, 'answer = $4', JSON.stringify(kept));
  }

  async remove({ caller, key }: RequestKey): Promise<void> {
    const { database, id } = await this.#opened();
    await database.query('delete from bmad.request where project = $1 and caller = $2 and key = $3', [
      id,
      caller,
      key,
    ]);
  }

  async #set({ caller, key }: RequestKey, change: string, ...more: string[]): Promise<void> {
    const { database, id } = await this.#opened();
    await database.query(
      `update bmad.request set ${change} where project = $1 and caller = $2 and key = $3`,
      [id, caller, key, ...more],
    );
  }
}
