import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Database } from '../../src/base/postgres/postgres.ts';
import { migrate } from '../../src/base/postgres/schema.ts';
import { DatabaseLog, openProject } from '../../src/lines/database.ts';
import { StateDatabase } from '../../src/services/shared-state/shared-state.ts';
import { debianProgram } from '../support/debian.ts';
import { Cluster, postgresPrograms } from '../support/postgres.ts';
import { readAll } from '../support/read-lines.ts';
import { some } from '../support/how-much.ts';

const programs = postgresPrograms();
const pooler = programs === undefined ? undefined : debianProgram('pgbouncer');
const openssl = debianProgram('openssl');
const POOLED = 6432;
let pools = 0;

/** A file in the folder of a server, and its own. */
function ownFile(cluster: Cluster, name: string, text?: string): string {
  const path = join(cluster.folder, name);
  if (text !== undefined) writeFileSync(path, text, { mode: 0o600 });
  const { uid, gid } = statSync(cluster.folder);
  chownSync(path, uid, gid);
  return path;
}

async function databaseAt(address: string): Promise<Database> {
  const database = await Database.at(address);
  onTestFinished(() => database.close());
  return database;
}

describe.skipIf(programs === undefined || pooler === undefined)('behind a pooler by transactions', () => {
  let cluster: Cluster;
  beforeAll(async () => void (cluster = await Cluster.start(programs ?? '')));
  afterAll(() => cluster.remove());

  /** One that has three connections for everybody; with `ignored`, it takes settings of a connection and forgets them. */
  async function pooled(ignored: boolean): Promise<{ direct: string; through: string; name: string }> {
    const name = await cluster.database();
    await migrate(await databaseAt(cluster.address(name)));
    const port = POOLED + (pools += 1);
    const settings = [
      '[databases]',
      `${name} = host=${cluster.folder} user=postgres`,
      '[pgbouncer]',
      'listen_addr =',
      `listen_port = ${port}`,
      `unix_socket_dir = ${cluster.folder}`,
      'auth_type = any',
      'pool_mode = transaction',
      'default_pool_size = 3',
      ...(ignored
        ? ['ignore_startup_parameters = statement_timeout,lock_timeout,idle_in_transaction_session_timeout']
        : []),
    ];
    const file = ownFile(cluster, `${name}.ini`, `${settings.join('\n')}\n`);
    const { uid, gid } = statSync(cluster.folder);
    const owner = process.getuid?.() === 0 ? { uid, gid } : {};
    const child: ChildProcess = spawn(pooler ?? '', [file], { stdio: 'ignore', ...owner });
    onTestFinished(async () => {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    });
    const direct = cluster.address(name);
    const through = `${direct}&port=${port}`;
    const asked = await databaseAt(through);
    await expect.poll(() => asked.read('select 1').catch(() => [])).toHaveLength(1);
    return { direct, through, name };
  }

  it.each(some(1, [true, false]))(
    'hears of changes, keeps every line, and leaves nothing there (%s)',
    async (ignored) => {
      const { direct, through, name } = await pooled(ignored);
      const writer = { machine: () => Promise.resolve('one'), by: { kind: 'local' as const, name: 'ada' } };
      const open = async (address: string): Promise<DatabaseLog> => {
        const project = await openProject(await databaseAt(address), 'shop', '');
        return new DatabaseLog(() => Promise.resolve(project), writer);
      };
      const [far, near] = [await open(through), await open(direct)];
      const note = (of: string) => [{ of, after: [], do: 'note', data: {} }];
      // Many more at once than there are connections.
      await Promise.all(Array.from({ length: 60 }, (_, at) => far.append(note(`task/${at}`))));
      expect((await readAll(near)).lines).toHaveLength(60);

      const followed = await StateDatabase.at(through, () => 'shop');
      onTestFinished(() => followed.close());
      let heard = 0;
      onTestFinished(followed.follow(() => (heard += 1)));
      await expect.poll(() => followed.database.isBehindPooler).toBe(true);
      await expect.poll(() => heard).toBeGreaterThan(0);
      const before = heard;
      await near.append(note('task/late'));
      await expect.poll(() => heard).toBeGreaterThan(before);

      expect(await migrate(await databaseAt(through))).toMatchObject({ before: 3 });
      const left = await cluster.ask(
        name,
        `select count(*)::int as locks from pg_locks where locktype = 'advisory'`,
      );
      expect(left).toEqual([{ locks: 0 }]);
      const [asked] = await (
        await databaseAt(through)
      ).query<{ channels: string }>('select count(*) as channels from pg_listening_channels()');
      expect(asked).toEqual({ channels: '0' });
    },
  );
});

describe.skipIf(programs === undefined || openssl === undefined)('over a line that is private', () => {
  let cluster: Cluster;
  let port: number;
  let authority: string;

  /** A certificate for the name localhost, and the authority that vouches for it. */
  beforeAll(async () => {
    cluster = await Cluster.start(programs ?? '');
    await cluster.end();
    const at = (name: string): string => join(cluster.folder, name);
    const make = (...args: string[]) => execFileSync(openssl ?? '', args, { stdio: 'ignore' });
    authority = at('ca.crt');
    const fresh = ['-newkey', 'rsa:2048', '-nodes'];
    make('req', '-x509', ...fresh, '-keyout', at('ca.key'), '-out', authority, '-subj', '/CN=team');
    make('req', ...fresh, '-keyout', at('own.key'), '-out', at('own.csr'), '-subj', '/CN=localhost');
    writeFileSync(at('ext'), 'subjectAltName=DNS:localhost\n');
    const signer = ['-CA', authority, '-CAkey', at('ca.key'), '-CAcreateserial', '-extfile', at('ext')];
    make('x509', '-req', '-in', at('own.csr'), ...signer, '-out', at('own.crt'));
    for (const name of ['own.key', 'own.crt']) ownFile(cluster, name);
    const hba = ownFile(cluster, 'hba', 'hostssl all all all trust\nlocal all all trust\n');
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as { port: number });
    await new Promise((resolve) => void server.close(resolve));
    await cluster.begin([
      'listen_addresses=localhost',
      `port=${port}`,
      'ssl=on',
      `ssl_cert_file=${at('own.crt')}`,
      `ssl_key_file=${at('own.key')}`,
      `hba_file=${hba}`,
    ]);
  });
  afterAll(() => cluster.remove());

  const asked = async (host: string, options: string): Promise<unknown> =>
    (await databaseAt(`postgres://postgres@${host}:${port}/postgres${options}`)).read('select 1 as one');

  it('asks for what the address says, and tells what is wrong with a certificate', async () => {
    const known = `&sslrootcert=${authority}`;
    const one = [{ one: 1 }];
    expect(await asked('localhost', '?sslmode=require')).toEqual(one);
    expect(await asked('localhost', `?sslmode=verify-full${known}`)).toEqual(one);
    expect(await asked('127.0.0.1', `?sslmode=verify-ca${known}`)).toEqual(one);
    const hint = (text: string) => ({ hint: expect.stringContaining(text) as string });
    await expect(asked('127.0.0.1', '')).rejects.toMatchObject(hint('add sslmode=verify-full'));
    for (const mode of ['verify-ca', 'verify-full'])
      await expect(asked('localhost', `?sslmode=${mode}`)).rejects.toMatchObject(hint('as sslrootcert'));
    await expect(asked('127.0.0.1', `?sslmode=verify-full${known}`)).rejects.toMatchObject(
      hint('is for another name'),
    );
  });
});
