import { setTimeout as delay } from 'node:timers/promises';
import { type Caller, callerNow } from '../base/caller.ts';
import { BmadError } from '../base/errors.ts';
import { type Asked, Database, isUncertain } from '../base/postgres/postgres.ts';
import { projectGone, type SharedProject } from './shared-project.ts';
import {
  type Expectation,
  IN_DATABASE,
  isUnseen,
  type Line,
  type LineEvent,
  lineJson,
  type LogTrouble,
  type Lost,
  type Mark,
  type NewEvent,
  newLine,
  newLineId,
  type Page,
  type PlacedLine,
  readLine,
  type Said,
  type SharedLog,
  withoutSaid,
  type Writer,
} from './line.ts';

/** For those who load this part late. */
export { Database };
export { closeProject, openProject, type SharedProject } from './shared-project.ts';

/** Said on it: the number of a project, and that of its last line. */
export const CHANNEL = 'bmad';

/** Long texts, which nothing is folded from: who wants one asks for it by its name. */
const TEXT = 'text';
const TEXT_PART = 200_000;
/** Nouns that only those read who ask for them by name. */
const APART = [TEXT, 'receipt'];
/** In place of the noun of a line about several: each reader gets it. */
const MIXED = '';

const PAGE_LINES = 1_000;
const PAGE_BYTES = 4_000_000;
/** What a reader takes in at once, so that others get their turn. */
const PAGE_EVENTS = 500;
const PUT_AT_ONCE = 1_000;
/** A call that waits for others has to see what they do. */
const SAME_CALL_MS = 50;
/** When a line is written again by its id after nobody knows whether it was. */
const TRY_AGAIN_MS = [100, 400, 1_500, 3_000];

interface Row {
  rev: string;
  id: string;
  body: string;
}

interface Reached {
  rev: number;
  id: string;
}

const numberOf = (rev: string | undefined): number => Number(rev ?? 0);

/** Lines in a database, which several machines write: a second implementation of the one port, with the same rules. */
export class DatabaseLog implements SharedLog {
  readonly #opened: () => Promise<SharedProject>;
  readonly #writer: Writer;
  /** Of which noun they are; all that are folded, where none is named. */
  readonly #only: string | undefined;
  #machine: string | undefined;
  #unreadable = 0;
  #wentBack: { had: number; has: number } | undefined;
  /** How it was when somebody last asked whether there is more: who reads then need not ask that again. */
  #stood: { had: Reached; rev: number; id: string; isSame: boolean } | undefined;
  /** The last line there was when a call asked: the steps of one call see the same, and do not ask again. */
  #seen: { call: Partial<Caller>; id: string; until: number } | undefined;
  /** What the clock of the database is ahead of this one. */
  #ahead = 0;

  constructor(opened: () => Promise<SharedProject>, writer: Writer, only?: string) {
    this.#opened = opened;
    this.#writer = writer;
    this.#only = only;
  }

  now(): number {
    return Date.now() + this.#ahead;
  }

  async append(events: readonly NewEvent[], expect?: Expectation): Promise<PlacedLine | Lost> {
    const by = { ...this.#writer.by, ...callerNow() };
    const machine = (this.#machine ??= await this.#writer.machine());
    const line = newLine(events, machine, by, new Date(this.now()));
    return this.#written(line, expect);
  }

  async #written(line: Line, expect?: Expectation): Promise<PlacedLine | Lost> {
    this.#seen = undefined;
    const shared = await this.#opened();
    const known = expect && reachedIn(expect.since).rev;
    try {
      const at = await this.#atOnce(shared, line, known);
      if (at !== undefined) return { line: { ...line, at }, file: IN_DATABASE };
    } catch (error) {
      if (!isUncertain(error)) throw error;
      return this.#again(shared, line, expect, error);
    }
    return this.#carefully(shared, line, expect);
  }

  /** One statement. Where something is expected, it counts only if nobody has written anything in the project meanwhile. */
  async #atOnce({ database, id }: SharedProject, line: Line, known?: number): Promise<string | undefined> {
    const [before = '', after = ''] = aroundTime(line);
    const [found] = await database.query<{ at: string }>(
      `with moved as (
        update bmad.project set rev = rev + 1 where id = $1 and rev = coalesce($2, rev)
        returning rev, to_char(clock_timestamp() at time zone 'UTC', '${SQL_TIME}') as at
      ), written as (
        insert into bmad.line (project, rev, noun, entity, id, machine, caller, at, body)
        select $1, rev, $3, $4, $5, $6, $7, at::timestamptz, $8 || at || $9 from moved returning rev
      )
      select at, pg_notify('${CHANNEL}', $1 || ' ' || moved.rev) from moved, written`,
      [id, known ?? null, ...columnsOf(line), before, after],
    );
    return found?.at;
  }

  /** In the order of all writers, after a look at what has come since. */
  #carefully(shared: SharedProject, line: Line, expect?: Expectation): Promise<PlacedLine | Lost> {
    const { database, id } = shared;
    return database.transaction(async (asked) => {
      const rev = await lockedRev(asked, id, database.shown);
      const [own] = await asked.query<Row>('select body from bmad.line where project = $1 and id = $2', [
        id,
        line.id,
      ]);
      // The first try had counted.
      if (own !== undefined) return { line: readLine(own.body) ?? line, file: IN_DATABASE };
      const lost = expect === undefined ? [] : await this.#since(asked, id, expect);
      if (lost.length > 0) return { lost };
      const at = await writeRow(asked, id, rev + 1, line);
      await asked.query('update bmad.project set rev = $2 where id = $1', [id, rev + 1]);
      await asked.query(`select pg_notify('${CHANNEL}', $1)`, [`${id} ${rev + 1}`]);
      return { line: { ...line, at }, file: IN_DATABASE };
    });
  }

  /** The same line by its id, until somebody says whether it is there: it counts once, however often it was sent. */
  async #again(
    shared: SharedProject,
    line: Line,
    expect: Expectation | undefined,
    first: unknown,
  ): Promise<PlacedLine | Lost> {
    for (const wait of TRY_AGAIN_MS) {
      await delay(wait);
      try {
        return await this.#carefully(shared, line, expect);
      } catch (error) {
        if (!(error instanceof BmadError) || (error.reason !== 'database' && !isUncertain(error)))
          throw error;
      }
    }
    throw first;
  }

  async #since(asked: Asked, project: number, expect: Expectation): Promise<PlacedLine[]> {
    const rows = await asked.query<Row>(
      'select rev, id, body from bmad.line where project = $1 and rev > $2 and entity && $3 order by rev',
      [project, reachedIn(expect.since).rev, [...expect.heads.keys()].map(stored)],
    );
    return rows.flatMap(({ body }) => {
      const line = readLine(body);
      return line !== undefined && isUnseen(expect, line) ? [{ line, file: IN_DATABASE }] : [];
    });
  }

  async *read(after: Mark, without?: string): AsyncIterable<Page> {
    const shared = await this.#opened();
    const had = reachedIn(after);
    const stood = this.#stood?.had.id === had.id && this.#stood.had.rev === had.rev ? this.#stood : undefined;
    this.#stood = undefined;
    const { rev, id, isSame } = stood ?? (await this.#standing(shared, had));
    const gone = isSame ? [] : [IN_DATABASE];
    if (!isSame && rev < had.rev) this.#wentBack = { had: had.rev, has: rev };
    let from = isSame ? had.rev : 0;
    if (from === 0) this.#unreadable = 0;
    if (from === rev && isSame) return yield { lines: [], gone: [], marks: new Map() };
    let [lines, events, first]: [PlacedLine[], number, string[]] = [[], 0, gone];
    while (from < rev) {
      const rows = await this.#rows(shared, from, rev, without);
      if (rows.length === 0) break;
      for (const row of rows) {
        const line = readLine(row.body);
        if (line === undefined) this.#unreadable += 1;
        else lines.push({ line, file: IN_DATABASE });
        events += line?.events.length ?? 0;
        if (events < PAGE_EVENTS) continue;
        yield { lines, gone: first, marks: markAt(row) };
        [lines, events, first] = [[], 0, []];
      }
      from = numberOf(rows.at(-1)?.rev);
    }
    yield { lines, gone: first, marks: markAt({ rev: String(rev), id }) };
  }

  /** How far the project is, and whether what a reader has read last is still what it was: a backup may have been restored. */
  async #standing({ database, id: project }: SharedProject, had: Reached) {
    const began = Date.now();
    const [found] = await database.read<{
      rev: string;
      id: string | null;
      known: string | null;
      now: string;
    }>(
      `select p.rev, l.id, k.id as known, to_char(clock_timestamp() at time zone 'UTC', '${SQL_TIME}') as now
      from bmad.project p left join bmad.line l on l.project = p.id and l.rev = p.rev
      left join bmad.line k on k.project = p.id and k.rev = $2 where p.id = $1`,
      [project, had.rev],
    );
    if (found === undefined) throw projectGone(database.shown);
    this.#ahead = Date.parse(found.now) - (began + Date.now()) / 2;
    const isSame = had.rev === 0 || found.known === had.id;
    return { rev: numberOf(found.rev), id: found.id ?? '', isSame };
  }

  #rows({ database, id }: SharedProject, from: number, to: number, without?: string): Promise<Row[]> {
    const [filter, values] = this.#filter(without);
    return database.read<Row>(
      `select rev, id, body from (
        select rev, id, body, sum(octet_length(body)) over (order by rev) - octet_length(body) as before from (
          select rev, id, body from bmad.line
          where project = $1 and rev > $2 and rev <= $3 and ${filter('$4')} order by rev limit ${PAGE_LINES}
        ) page
      ) sized where before < ${PAGE_BYTES} order by rev`,
      [id, from, to, values],
    );
  }

  #filter(without?: string): [(place: string) => string, readonly string[]] {
    const only = this.#only;
    if (only !== undefined) return [(place) => `noun = any(${place})`, [only, MIXED]];
    const others = without === undefined ? APART : [...APART, without];
    return [(place) => `noun <> all(${place})`, others];
  }

  async last(least: number): Promise<PlacedLine[]> {
    const { database, id } = await this.#opened();
    const [filter, values] = this.#filter();
    const rows = await database.read<Row>(
      `select body from bmad.line where project = $1 and ${filter('$2')} order by rev desc limit $3`,
      [id, values, least],
    );
    return placed(rows.toReversed());
  }

  async changed(since: Mark): Promise<boolean> {
    const had = reachedIn(since);
    const call = callerNow();
    const before = this.#seen;
    if (
      call !== undefined &&
      before?.call === call &&
      before.id === had.id &&
      before.until > performance.now()
    )
      return false;
    const found = await this.#standing(await this.#opened(), had);
    this.#stood = { had, ...found };
    this.#seen = { call, id: found.id, until: performance.now() + SAME_CALL_MS };
    return !found.isSame || found.rev !== had.rev;
  }

  async ahead(since: Mark): Promise<number> {
    const { database, id } = await this.#opened();
    const [filter, values] = this.#filter();
    const [found] = await database.read<{ bytes: string }>(
      `select coalesce(sum(octet_length(body)), 0) as bytes from bmad.line
      where project = $1 and rev > $2 and ${filter('$3')}`,
      [id, reachedIn(since).rev, values],
    );
    return Number(found?.bytes);
  }

  async erase(said: Said): Promise<boolean> {
    const { database, id } = await this.#opened();
    const ids = [...new Set([...said.values()].flatMap((some) => [...some]))];
    const rows = await database.read<Row>(
      'select rev, id, body from bmad.line where project = $1 and id = any($2)',
      [id, ids],
    );
    let any = false;
    for (const { rev, body } of rows) {
      const line = readLine(body);
      const without = line && withoutSaid(line, said);
      if (without === undefined) continue;
      any = true;
      const values = [id, Number(rev), lineJson(without)];
      await database.query('update bmad.line set body = $3 where project = $1 and rev = $2', values);
    }
    return any;
  }

  troubles(): readonly LogTrouble[] {
    const file = IN_DATABASE;
    const { had, has } = this.#wentBack ?? {};
    return [
      ...(this.#unreadable > 0 ? [{ file, what: 'unreadable' as const, count: this.#unreadable }] : []),
      ...(had === undefined ? [] : [{ file, what: 'behind' as const, count: had - (has ?? 0) }]),
    ];
  }

  async put(lines: readonly Line[]): Promise<void> {
    this.#seen = undefined;
    const { database, id } = await this.#opened();
    for (let from = 0; from < lines.length; from += PUT_AT_ONCE) {
      const some = lines.slice(from, from + PUT_AT_ONCE);
      await database.transaction(async (asked) => {
        let rev = await lockedRev(asked, id, database.shown);
        const known = await asked.query<Row>('select id from bmad.line where project = $1 and id = any($2)', [
          id,
          some.map((line) => line.id),
        ]);
        const ids = new Set(known.map((row) => row.id));
        const missing = some.filter((line) => !ids.has(line.id) && ids.add(line.id));
        const rows = missing.map((line) => rowOf((rev += 1), line));
        await asked.query(PUT, [id, JSON.stringify(rows)]);
        await asked.query('update bmad.project set rev = $2 where id = $1', [id, rev]);
        await asked.query(`select pg_notify('${CHANNEL}', $1)`, [`${id} ${rev}`]);
      });
    }
  }

  /** A long text under a name of its own, in parts of which each fits into a line. */
  async putText(name: string, text: string): Promise<void> {
    const machine = (this.#machine ??= await this.#writer.machine());
    const by: Caller = { ...this.#writer.by, ...callerNow() };
    const put = newLineId();
    const parts = Array.from({ length: Math.max(1, Math.ceil(text.length / TEXT_PART)) }, (_, at) =>
      text.slice(at * TEXT_PART, (at + 1) * TEXT_PART),
    );
    const lines = parts.map((part, at) =>
      newLine(
        [{ of: `${TEXT}/${name}`, after: [], do: 'put', data: { put, at, of: parts.length, part } }],
        machine,
        by,
      ),
    );
    const [first, ...others] = lines;
    if (first !== undefined && others.length === 0) await this.#written(first);
    else await this.put(lines);
  }

  /** The last whole text of that name. */
  async text(name: string): Promise<string | undefined> {
    const found = new Map<string, string[]>();
    for (const { line } of await this.#texts(name))
      for (const { data } of line.events) {
        const { put, at, part } = data;
        if (typeof put !== 'string' || typeof at !== 'number' || typeof part !== 'string') continue;
        const parts = found.get(put) ?? [];
        parts[at] = part;
        found.set(put, parts);
      }
    return [...found.values()].at(-1)?.join('');
  }

  async textNames(): Promise<string[]> {
    const { database, id } = await this.#opened();
    const rows = await database.read<{ name: string }>(
      `select distinct unnest(entity) as name from bmad.line where project = $1 and noun = '${TEXT}'`,
      [id],
    );
    return rows.map(({ name }) => name.slice(TEXT.length + 1)).sort();
  }

  async removeText(name: string): Promise<void> {
    const ids = (await this.#texts(name)).map(({ line }) => line.id);
    if (ids.length > 0) await this.erase(new Map([[`${TEXT}/${name}`, new Set(ids)]]));
  }

  async #texts(name: string): Promise<PlacedLine[]> {
    const { database, id } = await this.#opened();
    const rows = await database.read<Row>(
      `select body from bmad.line where project = $1 and noun = '${TEXT}' and entity && $2 order by rev`,
      [id, [stored(`${TEXT}/${name}`)]],
    );
    return placed(rows).filter(({ line }) => line.events.some(({ of }) => of === `${TEXT}/${name}`));
  }
}

const SQL_TIME = 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"';

/** The text of a line before and after its time, which the database gives it. */
function aroundTime(line: Line): string[] {
  const { v, id, at, machine, by, events } = line;
  const head = `${JSON.stringify({ v, id }).slice(0, -1)},"at":"`;
  const rest = `"${JSON.stringify({ at, machine, by, events }).slice(JSON.stringify({ at }).length - 1)}`;
  return [head, rest];
}

/** Columns have no room for characters that are none; the body has them escaped. */
export const stored = (text: string): string =>
  text.replaceAll('\0', '').replaceAll(/\p{Surrogate}/gu, '\uFFFD');

const nounOf = ({ of }: LineEvent): string => of.slice(0, Math.max(0, of.indexOf('/')));

function columnsOf(line: Line): [string, string[], string, string, string] {
  const nouns = new Set(line.events.map(nounOf));
  const [noun = MIXED] = nouns.size === 1 ? nouns : [];
  const { kind, name } = line.by;
  const caller = name === '' ? kind : `${kind} ${name}`;
  return [
    stored(noun),
    line.events.map(({ of }) => stored(of)),
    line.id,
    stored(line.machine),
    stored(caller),
  ];
}

/** Many at once, each as it is. */
const PUT = `INSERT into bmad.line (project, rev, noun, entity, id, machine, caller, at, body)
  select $1, rev, noun, array(select json_array_elements_text(entity)), id, machine, caller, at::timestamptz, body
  from json_to_recordset($2) as
    row (rev bigint, noun text, entity json, id text, machine text, caller text, at text, body text)`;

function rowOf(rev: number, line: Line) {
  const [noun, entity, id, machine, caller] = columnsOf(line);
  return { rev, noun, entity, id, machine, caller, at: line.at, body: lineJson(line) };
}

async function writeRow(asked: Asked, project: number, rev: number, line: Line): Promise<string> {
  const [before = '', after = ''] = aroundTime(line);
  const [found] = await asked.query<{ at: string }>(
    `with clock as (select to_char(clock_timestamp() at time zone 'UTC', '${SQL_TIME}') as at)
    insert into bmad.line (project, rev, noun, entity, id, machine, caller, at, body)
    select $1, $2, $3, $4, $5, $6, $7, at::timestamptz, $8 || at || $9 from clock
    returning (select at from clock) as at`,
    [project, rev, ...columnsOf(line), before, after],
  );
  return found?.at ?? line.at;
}

async function lockedRev(asked: Asked, project: number, shown: string): Promise<number> {
  const [found] = await asked.query<{ rev: string }>(
    'select rev from bmad.project where id = $1 for update',
    [project],
  );
  if (found === undefined) throw projectGone(shown);
  return numberOf(found.rev);
}

const placed = (rows: readonly Row[]): PlacedLine[] =>
  rows.flatMap(({ body }) => {
    const line = readLine(body);
    return line === undefined ? [] : [{ line, file: IN_DATABASE }];
  });

const markAt = ({ rev, id }: Pick<Row, 'rev' | 'id'>): Map<string, string> =>
  new Map([[IN_DATABASE, `${rev} ${id}`]]);

function reachedIn(mark: Mark): Reached {
  const [rev = '', id = ''] = mark.get(IN_DATABASE)?.split(' ') ?? [];
  return /^\d+$/.test(rev) ? { rev: Number(rev), id } : { rev: 0, id: '' };
}
