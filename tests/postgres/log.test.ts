import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { addressOf } from '../../src/base/postgres/address.ts';
import { Database } from '../../src/base/postgres/postgres.ts';
import { migrate } from '../../src/base/postgres/schema.ts';
import { DatabaseLog, openProject } from '../../src/lines/database.ts';
import { LineFiles } from '../../src/lines/files.ts';
import { happenedIn, isUnheard, type Line, type Log } from '../../src/lines/line.ts';
import { temporaryFolder } from '../support/app.ts';
import { Cluster, postgresPrograms } from '../support/postgres.ts';
import { type Read, readAll } from '../support/read-lines.ts';

const programs = postgresPrograms();
const note = (of: string, after: readonly string[] = [], text = of) => [
  { of, after, do: 'note', data: { text } },
];

const entities = ({ lines }: Pick<Read, 'lines'>): string[] =>
  lines.flatMap(({ line }) => line.events.map(({ of }) => of));

const idOf = (done: object): string => ('line' in done ? (done.line as Line).id : 'lost');

describe.skipIf(programs === undefined)('lines behind one port', () => {
  let cluster: Cluster;
  beforeAll(async () => void (cluster = await Cluster.start(programs ?? '')));
  afterAll(() => cluster.remove());

  const writer = (machine: string) => ({
    machine: () => Promise.resolve(machine),
    by: { kind: 'local' as const, name: 'ada' },
  });

  async function databaseAt(name: string): Promise<Database> {
    const database = await Database.at(cluster.address(name));
    onTestFinished(() => database.close());
    return database;
  }

  async function inDatabase(): Promise<{
    open: (machine: string, only?: string) => DatabaseLog;
    name: string;
  }> {
    const name = await cluster.database();
    await migrate(await databaseAt(name));
    const open = (machine: string, only?: string): DatabaseLog => {
      const opened = databaseAt(name).then((database) => openProject(database, 'shop', 'abc'));
      return new DatabaseLog(() => opened, writer(machine), only);
    };
    return { open, name };
  }

  async function inFiles(): Promise<{ open: (machine: string) => Log }> {
    const folder = await temporaryFolder(onTestFinished);
    return { open: (machine) => new LineFiles({ folder, isPrivate: false }, writer(machine)) };
  }

  describe.each([
    ['files', inFiles],
    ['PostgreSQL', inDatabase],
  ] as const)('in %s', (_name, place) => {
    it('are read after a mark, each once, by whoever has the mark', async () => {
      const { open } = await place();
      const [one, other] = [open('one'), open('other')];
      await one.append(note('task/1'));
      const first = await readAll(other);
      expect(entities(first)).toEqual(['task/1']);
      expect(await other.changed(first.mark)).toBe(false);
      expect(await other.ahead(first.mark)).toBe(0);
      await one.append(note('task/2'));
      expect(await other.changed(first.mark)).toBe(true);
      expect(await other.ahead(first.mark)).toBeGreaterThan(0);
      expect(entities(await readAll(other, first.mark))).toEqual(['task/2']);
      expect(entities({ lines: await other.last(1) }).at(-1)).toBe('task/2');
    });

    it('are refused where somebody else has written about the same, and not where about something else', async () => {
      const { open } = await place();
      const [one, other] = [open('one'), open('other')];
      const begun = await one.append(note('task/1'));
      const heads = new Map([['task/1', [idOf(begun)]]]);
      const { mark } = await readAll(other);
      await one.append(note('task/2'));
      const claimed = await one.append(note('task/1', [idOf(begun)]), { since: mark, heads });
      expect('line' in claimed).toBe(true);
      const lost = await other.append(note('task/1', [idOf(begun)]), { since: mark, heads });
      expect('lost' in lost && entities({ lines: [...lost.lost] })).toEqual(['task/1']);
      expect(entities(await readAll(other))).toHaveLength(3);
    });

    it('let one of many win who want the same at once', async () => {
      const { open } = await place();
      const logs = Array.from({ length: 4 }, (_, at) => open(`m${at}`));
      const begun = await (logs[0] as Log).append(note('task/1'));
      const heads = new Map([['task/1', [idOf(begun)]]]);
      const { mark } = await readAll(logs[0] as Log);
      const done = await Promise.all(
        Array.from({ length: 16 }, (_, at) =>
          (logs[at % 4] as Log).append(note('task/1', [idOf(begun)], `${at}`), { since: mark, heads }),
        ),
      );
      expect(done.filter((each) => 'line' in each)).toHaveLength(1);
    });

    it('keep every text to the byte, whatever is in it, up to a megabyte', async () => {
      const { open } = await place();
      const log = open('one');
      const texts = [
        '\0 and \u0007',
        '\uD800 half \uDC00',
        'é 🦊 ‮',
        '\\u0000 "quoted" \\',
        'x'.repeat(900_000),
      ];
      for (const [at, text] of texts.entries()) await log.append(note(`task/${at}`, [], text));
      const read = (await readAll(open('other'))).lines.flatMap(({ line }) => happenedIn(line));
      expect(read.map(({ data }) => data['text'])).toEqual(texts);
      await expect(log.append(note('task/6', [], 'x'.repeat(1_000_001)))).rejects.toThrow('at most 1 MB');
      await log.append(note(`name/a\0b\uD800`));
      expect((await readAll(log)).lines).toHaveLength(6);
    });

    it('lose what is forgotten for good, and keep that it was said', async () => {
      const { open } = await place();
      const log = open('one');
      const id = idOf(await log.append(note('memory/a', [], 'secret words')));
      expect(await log.erase(new Map([['memory/a', new Set([id])]]))).toBe(true);
      expect(await log.erase(new Map([['memory/a', new Set([id])]]))).toBe(false);
      const { lines } = await readAll(open('other'));
      expect(lines.map(({ line }) => line.events)).toEqual([
        [{ of: 'memory/a', after: [], do: 'note', data: {}, erased: true }],
      ]);
    });

    it('are taken over as they were written elsewhere', async () => {
      const { open } = await place();
      const { open: openFiles } = await inFiles();
      const source = openFiles('far');
      for (let at = 0; at < 20; at += 1) await source.append(note(`task/${at}`));
      const lines = (await readAll(source)).lines.map(({ line }) => line);
      const log = open('one');
      await log.put(lines.slice(0, 12));
      await log.put(lines.slice(12));
      const found = (await readAll(open('other'))).lines.map(({ line }) => line);
      expect(found.sort((a, b) => (a.id < b.id ? -1 : 1))).toEqual(
        lines.sort((a, b) => (a.id < b.id ? -1 : 1)),
      );
    });
  });

  it('take the time of the database, and count once though they are sent twice', async () => {
    const { open, name } = await inDatabase();
    const log = open('one');
    await readAll(log);
    const done = await log.append(note('task/1'));
    const [row] = await cluster.ask(
      name,
      `select abs(extract(epoch from at - (body::json->>'at')::timestamptz)) as far, noun, entity, caller from bmad.line`,
    );
    expect(row).toMatchObject({ noun: 'task', entity: ['task/1'], caller: 'local ada' });
    expect(Number(row?.['far'])).toBeLessThan(0.001);
    const line = 'line' in done ? done.line : undefined;
    if (line !== undefined) await log.put([line, line]);
    expect((await readAll(log)).lines).toHaveLength(1);
  });

  it('leave out the nouns that a reader does not want, and never a line', async () => {
    const { open } = await inDatabase();
    const log = open('one');
    for (const of of ['memory/a', 'task/1', 'receipt/1', 'memory/b', 'run/1']) await log.append(note(of));
    await log.putText('brief', 'a long text'.repeat(40_000));
    expect(entities(await readAll(log, new Map(), 'memory'))).toEqual(['task/1', 'run/1']);
    expect(entities(await readAll(open('two', 'memory')))).toEqual(['memory/a', 'memory/b']);
    expect(entities(await readAll(open('two', 'receipt')))).toEqual(['receipt/1']);
    const { mark } = await readAll(log, new Map(), 'memory');
    expect(await log.changed(mark)).toBe(false);
    expect(await open('two').text('brief')).toBe('a long text'.repeat(40_000));
    await log.putText('brief', 'another');
    expect(await log.text('brief')).toBe('another');
    await log.removeText('brief');
    expect(await log.text('brief')).toBeUndefined();
  });

  it('are read anew and told where an older backup was restored', async () => {
    const { open, name } = await inDatabase();
    const log = open('one');
    for (let at = 0; at < 5; at += 1) await log.append(note(`task/${at}`));
    const { mark } = await readAll(log);
    await cluster.ask(name, 'delete from bmad.line where rev > 3; update bmad.project set rev = 3');
    const after = await readAll(log, mark);
    expect([after.gone, entities(after)]).toEqual([['database'], ['task/0', 'task/1', 'task/2']]);
    expect(log.troubles()).toEqual([{ file: 'database', what: 'behind', count: 2 }]);
    // Others go on from there, past the number that this one knew.
    const other = open('two');
    for (let at = 10; at < 14; at += 1) await other.append(note(`task/${at}`));
    expect(entities(await readAll(open('one'), mark))).toHaveLength(7);
  });

  it('lose nothing where the database and its connections are killed again and again under load', async () => {
    const { open, name } = await inDatabase();
    const logs = Array.from({ length: 3 }, (_, at) => open(`m${at}`));
    const acknowledged: string[] = [];
    const over = new AbortController();
    const work = logs.map(async (log, at) => {
      for (let count = 0; !over.signal.aborted; count += 1)
        try {
          acknowledged.push(idOf(await log.append(note(`task/${at}-${count}`))));
        } catch (error) {
          if (!isUnheard(error)) throw error;
        }
    });
    for (let round = 0; round < 3; round += 1) {
      const before = acknowledged.length;
      await expect.poll(() => acknowledged.length, { timeout: 30_000 }).toBeGreaterThan(before + 20);
      if (round === 1)
        await cluster.ask(
          'postgres',
          `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
        );
      else {
        await cluster.end(round === 0 ? 'SIGKILL' : 'SIGQUIT');
        await cluster.begin();
      }
    }
    over.abort();
    await Promise.all(work);
    const ids = (await readAll(open('reader'))).lines.map(({ line }) => line.id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(acknowledged.filter((id) => !ids.includes(id))).toEqual([]);
  });

  it('are refused with what to do where there are no tables, no rights, or another project', async () => {
    const name = await cluster.database();
    const database = await databaseAt(name);
    await expect(openProject(database, 'shop', 'abc')).rejects.toThrow('has no tables of this server');
    await Promise.all([migrate(database), databaseAt(name).then((other) => migrate(other))]);
    await openProject(database, 'shop', 'abc');
    await expect(openProject(database, 'shop', 'other')).rejects.toThrow('another project called shop');
    await cluster.ask(name, 'drop role if exists app; create role app login');
    const app = await Database.at(cluster.address(name, 'app'));
    onTestFinished(() => app.close());
    await expect(openProject(app, 'shop', 'abc')).rejects.toMatchObject({ code: 'forbidden' });
    await migrate(database, 'app');
    await openProject(app, 'shop', 'abc');
    await expect(migrate(app)).rejects.toMatchObject({ code: 'forbidden' });
    await expect(migrate(database, 'nobody')).rejects.toThrow('no role nobody');
  });

  it('show no password, in whatever is printed of an address or an error', async () => {
    const address = addressOf('postgres://ada:p%40ss-w0rd@db.example:6000/shop?sslmode=require');
    expect(address).toMatchObject({
      shown: 'postgres://ada@db.example:6000/shop',
      host: 'db.example',
      tls: 'private',
    });
    expect(address.password?.()).toBe('p@ss-w0rd');
    const database = await Database.at('postgres://ada:s3cret-word@127.0.0.1:1/shop');
    onTestFinished(() => database.close());
    const failure: unknown = await database.read('select 1').catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'unavailable', reason: 'database', seconds: 2 });
    for (const each of [address, failure, database]) {
      const text = inspect(each, { depth: 20, showHidden: true });
      expect(text).not.toContain('s3cret-word');
      expect(text).not.toContain('p@ss-w0rd');
    }
    for (const wrong of [
      'postgres://',
      'postgres://u:p4ss@h:port/d',
      'postgres://u:p4ss@h/',
      'postgres://u:p4ss@h/d?sslmode=x',
    ]) {
      const refused: unknown = await Database.at(wrong).catch((error: unknown) => error);
      expect(refused).toMatchObject({ code: 'invalid_input' });
      expect(inspect(refused, { depth: 20, showHidden: true })).not.toContain('p4ss');
    }
  });
});
