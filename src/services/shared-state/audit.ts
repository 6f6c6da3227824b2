import { jsonObject } from '../../base/parse/json.ts';
import type { Database } from '../../base/postgres/postgres.ts';
import { stored } from '../../lines/database.ts';
import {
  type AuditFilter,
  type AuditLine,
  auditLineSchema,
  type AuditRow,
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
