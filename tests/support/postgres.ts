import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { debianProgram } from './debian.ts';

const VERSIONS = '/usr/lib/postgresql';
const READY_MS = 60_000;

/** Whether tests of projects are run on a database as well; nothing is installed for that. The gate has to. */
export const hasPostgres = (): boolean =>
  existsSync(VERSIONS) || (process.env['CI'] !== undefined && process.platform === 'linux');

export const POSTGRES_LEFT_OUT =
  'POSTGRESQL WAS NOT TRIED: it is not installed here (Debian: apt-get install postgresql).';

/** The folder of programs of the newest PostgreSQL here, or Debian's; nothing, where there is neither. */
export function postgresPrograms(): string | undefined {
  debianProgram('psql', 'postgresql');
  const versions = existsSync(VERSIONS) ? readdirSync(VERSIONS) : [];
  const [newest] = versions.sort((a, b) => Number(b) - Number(a));
  const found = newest === undefined ? undefined : join(VERSIONS, newest, 'bin');
  if (found !== undefined && existsSync(join(found, 'postgres'))) return found;
  if (process.env['CI'] !== undefined && process.platform === 'linux')
    throw new Error('PostgreSQL is missing here, and the gate has to try it.');
  return undefined;
}

/** A server of databases of its own, reached through a socket in a private folder, so that no port is taken. */
export class Cluster {
  readonly folder: string;
  readonly #programs: string;
  readonly #owner: { uid: number; gid: number } | undefined;
  #process: ChildProcess | undefined;
  #databases = 0;

  private constructor(programs: string) {
    this.#programs = programs;
    // Not in the folder of the run, which nobody else may enter.
    this.folder = mkdtempSync('/tmp/pg-');
    // The server refuses to run as root.
    const isRoot = process.getuid?.() === 0;
    const idOf = (what: string): number =>
      Number(execFileSync('id', [what, 'postgres'], { encoding: 'utf8' }));
    this.#owner = isRoot ? { uid: idOf('-u'), gid: idOf('-g') } : undefined;
    if (this.#owner !== undefined) chownSync(this.folder, this.#owner.uid, this.#owner.gid);
    chmodSync(this.folder, 0o755);
  }

  static async start(programs: string, settings: readonly string[] = []): Promise<Cluster> {
    const cluster = new Cluster(programs);
    const made = cluster.#run('initdb', [
      `--pgdata=${cluster.#data}`,
      '--auth=trust',
      '--username=postgres',
      '--no-sync',
      '--encoding=UTF8',
      '--locale=C.UTF-8',
    ]);
    const [code] = (await once(made, 'exit')) as [number];
    if (code !== 0) throw new Error(`initdb ended with ${code}`);
    await cluster.begin(settings);
    return cluster;
  }

  get #data(): string {
    return join(this.folder, 'data');
  }

  #run(program: string, args: readonly string[]): ChildProcess {
    const options = { stdio: 'ignore' as const, cwd: this.folder, ...this.#owner };
    return spawn(join(this.#programs, program), args, options);
  }

  /** Starts it; after a kill, again. */
  async begin(settings: readonly string[] = []): Promise<void> {
    const given = ['listen_addresses=', 'fsync=off', 'max_connections=200', ...settings];
    const deadline = Date.now() + READY_MS;
    for (;;) {
      const args = given.flatMap((each) => ['-c', each]);
      this.#process = this.#run('postgres', ['-D', this.#data, '-k', this.folder, ...args]);
      const ended = once(this.#process, 'exit').then(() => 'ended');
      // The lock of the one before may still be there for a moment.
      while ((await Promise.race([ended, delay(20)])) !== 'ended') {
        if (this.#isReady()) return;
        if (Date.now() > deadline) throw new Error('PostgreSQL did not start');
      }
    }
  }

  /** As it says itself, in the file that a server of before may have left too. */
  #isReady(): boolean {
    const file = join(this.#data, 'postmaster.pid');
    const said = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
    return said[0] === String(this.#process?.pid) && said[7]?.trim() === 'ready';
  }

  address(database: string, user = 'postgres'): string {
    return `postgres://${user}@/${database}?host=${encodeURIComponent(this.folder)}`;
  }

  /** One of its own for each test. */
  async database(): Promise<string> {
    const name = `d${(this.#databases += 1)}`;
    await this.ask('postgres', `create database ${name}`);
    return name;
  }

  async ask(database: string, text: string, user = 'postgres'): Promise<Record<string, unknown>[]> {
    const client = new pg.Client({ host: this.folder, user, database });
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(text)).rows;
    } finally {
      await client.end();
    }
  }

  async end(signal: NodeJS.Signals = 'SIGQUIT'): Promise<void> {
    const { exitCode, signalCode } = this.#process ?? {};
    if (this.#process === undefined || exitCode !== null || signalCode !== null) return;
    const ended = once(this.#process, 'exit');
    this.#process.kill(signal);
    await ended;
  }

  async remove(): Promise<void> {
    await this.end();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
