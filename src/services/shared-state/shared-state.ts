import { once } from '../../base/async.ts';
import { BmadError } from '../../base/errors.ts';
import { Database } from '../../base/postgres/postgres.ts';
import {
  checkSchema,
  LEAST_SERVER,
  migrate,
  SCHEMA_VERSION,
  type SchemaState,
  schemaState,
} from '../../base/postgres/schema.ts';
import { plural, t } from '../../base/text/message.ts';
import { type LogSetup, sharedName, type SharedState } from '../../kit/project-log.ts';
import { CHANNEL, closeProject, DatabaseLog, openProject, type SharedProject } from '../../lines/database.ts';
import type { Writer } from '../../lines/line.ts';
import type { RequestPlace } from '../../model/client.ts';
import { databaseSide, type Side } from './move.ts';
import { AuditRows, RequestRows } from './rows.ts';

export { isDatabaseAddress } from '../../base/postgres/address.ts';
export { filesSide, moveLines } from './move.ts';

/** How often a project is looked at where nothing can be listened to. */
const POLL_MS = 2_000;

/** The name that a project has been given for the database, by its folder. */
export type NamedProject = (root: string) => string | undefined;

/** The database of a team, opened with its first use. */
export class StateDatabase implements SharedState {
  readonly at: string;
  readonly database: Database;
  readonly #address: string;
  readonly #named: NamedProject;
  readonly #checked: () => Promise<void>;
  readonly #projects = new Map<string, () => Promise<SharedProject>>();

  constructor(address: string, database: Database, named: NamedProject) {
    this.#address = address;
    this.at = database.shown;
    this.database = database;
    this.#named = named;
    this.#checked = once(() => checkSchema(database));
  }

  static async at(
    address: string,
    named: NamedProject,
    secret?: (password: string) => void,
  ): Promise<StateDatabase> {
    return new StateDatabase(address, await Database.at(address, secret), named);
  }

  /** The project's row; made with its first use, and asked for again where that failed. */
  project(setup: LogSetup): Promise<SharedProject> {
    const { root } = setup.kit;
    const known =
      this.#projects.get(root) ??
      once(async () => {
        try {
          await this.#checked();
          const { key, fingerprint } = await sharedName(setup, this.#named(root));
          return await openProject(this.database, key, fingerprint);
        } catch (error) {
          // Readers get what was known last, and have to be told why.
          if (error instanceof BmadError) this.database.trouble = error;
          throw error;
        }
      });
    this.#projects.set(root, known);
    return known();
  }

  log(setup: LogSetup, writer: Writer, only?: string): DatabaseLog {
    return new DatabaseLog(() => this.project(setup), writer, only);
  }

  async copied(setup: LogSetup) {
    return { address: this.#address, ...(await sharedName(setup, this.#named(setup.kit.root))) };
  }

  /** Why it could not be used last, until it can be again. */
  get trouble(): BmadError | undefined {
    return this.database.trouble;
  }

  /** Asks it, and says how long that took. */
  async reach(): Promise<number> {
    const began = performance.now();
    await this.database.read('select 1');
    return performance.now() - began;
  }

  /** The calls of a project that may be made again, at whichever server. */
  async requests(setup: LogSetup): Promise<RequestPlace> {
    await this.project(setup);
    return new RequestRows(() => this.project(setup));
  }

  /** The audits of all machines; this one is known by its name. */
  audit(machine: () => Promise<string>): AuditRows {
    const opened = (): Promise<Database> => this.#checked().then(() => this.database);
    return new AuditRows(this.at, opened, machine);
  }

  /** Calls when anyone may have written something. Behind a pooler nothing can be listened to, so it asks now and then. */
  follow(heard: () => void): () => void {
    const end = this.database.listen(CHANNEL, heard);
    let seen: string | undefined;
    const look = async (): Promise<void> => {
      if (!this.database.isBehindPooler) return;
      const sum = this.database.read<{ revs: string }>('select sum(rev) as revs from bmad.project');
      const now = await sum.then(([row]) => row?.revs ?? '').catch(() => AWAY);
      if (now !== seen) heard();
      seen = now;
    };
    const timer = setInterval(() => void look(), POLL_MS).unref();
    return () => {
      clearInterval(timer);
      end();
    };
  }

  /** Makes the tables, or brings them up to date; with a role, gives it the rights to rows. */
  migrate(role?: string): Promise<{ before: number; after: number }> {
    return migrate(this.database, role);
  }

  async counted(setup: LogSetup): Promise<Counted> {
    const { key } = await sharedName(setup, this.#named(setup.kit.root));
    const schema = await schemaState({ query: (text, values) => this.database.read(text, values) });
    const ms = await this.reach();
    if (schema.version !== SCHEMA_VERSION)
      return { key, schema, expected: SCHEMA_VERSION, ms, rev: 0, nouns: {} };
    const rows = await this.database.read<{ noun: string; count: string }>(
      `select noun, count(*) as count from bmad.line join bmad.project p on p.id = line.project
      where p.key = $1 group by noun order by noun`,
      [key],
    );
    const [project] = await this.database.read<{ rev: string }>(
      'select rev from bmad.project where key = $1',
      [key],
    );
    const nouns = Object.fromEntries(
      rows.map(({ noun, count }) => [noun === '' ? 'several' : noun, Number(count)]),
    );
    return { key, schema, expected: SCHEMA_VERSION, ms, rev: Number(project?.rev ?? 0), nouns };
  }

  /** What is wrong, one text each; and what was looked at. */
  async checked(setup: LogSetup): Promise<{ looked: string[]; problems: string[] }> {
    const looked: string[] = [];
    const problems: string[] = [];
    const { schema, expected, rev, key } = await this.counted(setup);
    looked.push(
      t`PostgreSQL ${Math.floor(schema.server / 10_000)}, tables of version ${schema.version ?? 0}`,
    );
    if (schema.server < LEAST_SERVER) problems.push(t`PostgreSQL 14 or later is needed.`);
    if (schema.version !== expected) {
      problems.push(t`The tables are of version ${schema.version ?? 0}; this server needs ${expected}.`);
      return { looked, problems };
    }
    const { id } = await this.project(setup);
    const [clock] = await this.database.read<{ apart: string }>(
      'select extract(epoch from clock_timestamp()) * 1000 - $1::double precision as apart',
      [Date.now()],
    );
    const seconds = Math.round(Math.abs(Number(clock?.apart)) / 1_000);
    looked.push(t`the clocks are ${seconds} s apart`);
    if (seconds > CLOCKS_APART_S)
      problems.push(
        t`The clock of this machine is ${seconds} s from that of the database. Leases go by the database; correct the clock all the same.`,
      );
    const [rights] = await this.database.read<{ may: boolean }>(
      `select has_table_privilege('bmad.line', 'insert') and has_table_privilege('bmad.line', 'update')
      and has_table_privilege('bmad.project', 'update') as may`,
    );
    if (rights?.may !== true)
      problems.push(t`The database user may not write. The owner gives it the rights to rows.`);
    const log = new DatabaseLog(() => this.project(setup), NO_WRITER);
    let lines = 0;
    for await (const page of log.read(new Map())) lines += page.lines.length;
    looked.push(t`${plural(lines, 'line')} of ${key}, up to number ${rev}`);
    const [last] = await this.database.read<{ rev: string; count: string }>(
      'select coalesce(max(rev), 0) as rev, count(*) as count from bmad.line where project = $1',
      [id],
    );
    if (Number(last?.rev) > rev)
      problems.push(
        t`Lines have higher numbers than the project: restore project and lines from the same backup.`,
      );
    for (const { what, count } of log.troubles())
      if (what === 'unreadable') problems.push(t`${plural(count, 'line')} cannot be read.`);
    return { looked, problems };
  }

  /** All of a project, to be moved; one that was moved away is opened again. */
  async side(setup: LogSetup, writer: Writer): Promise<Side> {
    await this.#checked();
    const { key, fingerprint } = await sharedName(setup, this.#named(setup.kit.root));
    const project = await openProject(this.database, key, fingerprint, true);
    const log = (only?: string): DatabaseLog => new DatabaseLog(() => Promise.resolve(project), writer, only);
    return databaseSide(this.at, { all: log(), receipts: log('receipt') }, () => closeProject(project));
  }

  close(): Promise<void> {
    return this.database.close();
  }
}

const CLOCKS_APART_S = 60;
/** In place of a number. */
const AWAY = 'away';

/** One who only reads. */
const NO_WRITER = { machine: () => Promise.resolve(''), by: { kind: 'local' as const, name: '' } };

export interface Counted {
  key: string;
  schema: SchemaState;
  expected: number;
  ms: number;
  rev: number;
  /** How many lines there are, by what they are about. */
  nouns: Readonly<Record<string, number>>;
}
