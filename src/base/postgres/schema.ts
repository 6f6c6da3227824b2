import { BmadError } from '../errors.ts';
import { t } from '../text/message.ts';
import { type Asked, type Database, makeTables } from './postgres.ts';

/** Any number that nobody else uses: one at a time makes tables. */
const LOCK = 7_263_180_044;
export const LEAST_SERVER = 140_000;

/**
 * Each step is made once, and never changed afterwards. A counter on the project's row is raised in the transaction that
 * writes a line, so that a line with a lower number never comes after one with a higher: with a sequence, it would.
 */
const STEPS: readonly string[] = [
  `CREATE table bmad.project (
    id bigint generated always as identity primary key,
    key text not null unique,
    fingerprint text not null,
    rev bigint not null default 0
  );
  create table bmad.line (
    project bigint not null references bmad.project,
    rev bigint not null,
    noun text not null,
    entity text[] not null,
    id text not null,
    machine text not null,
    caller text not null,
    at timestamptz not null,
    body text not null,
    primary key (project, rev),
    unique (project, id)
  );
  create index line_noun on bmad.line (project, noun, rev);
  create index line_entity on bmad.line using gin (entity)`,
  `CREATE table bmad.request (
    project bigint not null references bmad.project,
    caller text not null,
    key text not null,
    answer text,
    held timestamptz,
    until timestamptz not null,
    primary key (project, caller, key)
  )`,
  `CREATE table bmad.audit (
    machine text not null,
    day date not null,
    number integer not null,
    host text not null,
    at timestamptz not null,
    caller text[] not null,
    operation text not null,
    outcome text not null,
    body text not null,
    primary key (machine, day, number)
  );
  create index audit_at on bmad.audit (at)`,
];

export const SCHEMA_VERSION = STEPS.length;

export interface SchemaState {
  /** Of the server, as in 150004. */
  server: number;
  /** None where there are no tables. */
  version: number | undefined;
}

export async function schemaState(asked: Asked): Promise<SchemaState> {
  const [found] = await asked.query<{ server: string; there: boolean }>(
    `select current_setting('server_version_num') as server, to_regclass('bmad.meta') is not null as there`,
  );
  const server = Number(found?.server);
  if (found?.there !== true) return { server, version: undefined };
  const [meta] = await asked.query<{ version: number }>('select version from bmad.meta');
  return { server, version: meta?.version };
}

/** Before anything is read or written: a newer schema may have rules that are not known here. */
export async function checkSchema(database: Database): Promise<void> {
  const { server, version } = await schemaState({ query: (text, values) => database.read(text, values) });
  refuseOld(server, database.shown);
  if (version === undefined || version < SCHEMA_VERSION)
    throw new BmadError(
      'unavailable',
      t`The database ${database.shown} has no tables of this server, or older ones.`,
      {
        reason: 'database',
        hint: t`The owner of the database makes them.`,
        steps: [makeTables()],
      },
    );
  if (version > SCHEMA_VERSION) throw newer(database.shown);
}

const newer = (shown: string): BmadError =>
  new BmadError('unavailable', t`The tables in ${shown} are those of a newer version of this server.`, {
    reason: 'database',
    hint: t`Update this server.`,
  });

function refuseOld(server: number, shown: string): void {
  if (server >= LEAST_SERVER) return;
  const major = Math.floor(server / 10_000);
  throw new BmadError(
    'unavailable',
    t`The database ${shown} is PostgreSQL ${major}; this server needs 14 or later.`,
    {
      reason: 'database',
    },
  );
}

/** Makes what is missing, one program at a time; with a role, gives it the rights to rows and nothing else. */
export async function migrate(database: Database, role?: string): Promise<{ before: number; after: number }> {
  return database.transaction(async (asked) => {
    await asked.query(`select pg_advisory_xact_lock(${LOCK})`);
    const { server, version: before = 0 } = await schemaState(asked);
    refuseOld(server, database.shown);
    if (before > SCHEMA_VERSION) throw newer(database.shown);
    if (before === 0) {
      await asked.query('create schema if not exists bmad');
      await asked.query('create table bmad.meta (version integer not null)');
      await asked.query('insert into bmad.meta values (0)');
    }
    for (const step of STEPS.slice(before)) for (const each of step.split(';\n')) await asked.query(each);
    await asked.query('update bmad.meta set version = $1', [SCHEMA_VERSION]);
    if (role !== undefined) await grant(asked, role);
    return { before, after: SCHEMA_VERSION };
  });
}

async function grant(asked: Asked, role: string): Promise<void> {
  const [found] = await asked.query<{ name: string }>(
    'select quote_ident(rolname) as name from pg_roles where rolname = $1',
    [role],
  );
  if (found === undefined)
    throw new BmadError('not_found', t`The database has no role ${role}.`, {
      subject: role,
      hint: t`Create it first, for instance with "createuser ${role}".`,
    });
  const { name } = found;
  await asked.query(`grant usage on schema bmad to ${name}`);
  await asked.query(`grant select on bmad.meta to ${name}`);
  await asked.query(`grant select, insert, update on bmad.project, bmad.line to ${name}`);
  await asked.query(`grant select, insert, update, delete on bmad.request to ${name}`);
  await asked.query(`grant select, insert on bmad.audit to ${name}`);
}
