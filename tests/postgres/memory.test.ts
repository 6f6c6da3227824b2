import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Database } from '../../src/base/postgres/postgres.ts';
import { migrate } from '../../src/base/postgres/schema.ts';
import { DatabaseLog, openProject } from '../../src/lines/database.ts';
import { LineFiles } from '../../src/lines/files.ts';
import type { Log, Writer } from '../../src/lines/line.ts';
import { SqliteIndex } from '../../src/services/memory/sqlite/index.ts';
import { sqliteDriver } from '../../src/services/memory/sqlite/database.ts';
import { MemoryStore } from '../../src/services/memory/store.ts';
import { storeContract } from '../memory/contract.ts';
import { memory, type OpenOptions, type Place, storeOptions } from '../memory/places.ts';
import { temporaryFolder } from '../support/app.ts';
import { isDeep } from '../support/how-much.ts';
import { Cluster, postgresPrograms } from '../support/postgres.ts';

const programs = postgresPrograms();
const writer: Writer = { machine: () => Promise.resolve('k7q2'), by: { kind: 'local', name: 'ada' } };

let cluster: Cluster | undefined;

async function opened(log: Log, folder: string, options?: OpenOptions): Promise<MemoryStore> {
  const made = storeOptions(options);
  return new MemoryStore(
    log,
    new SqliteIndex(join(folder, 'index.db'), await sqliteDriver(), made, 'auto'),
    made,
  );
}

/** A database of its own, which each who opens it reaches over connections of its own, with one index beside it. */
async function place(): Promise<Place & { log(): Promise<DatabaseLog> }> {
  const name = (await cluster?.database()) ?? '';
  const folder = await temporaryFolder(onTestFinished);
  const databases: Database[] = [];
  const database = async (): Promise<Database> => {
    const made = await Database.at(cluster?.address(name) ?? '');
    databases.push(made);
    return made;
  };
  await migrate(await database());
  const log = async (): Promise<DatabaseLog> => {
    const project = await openProject(await database(), 'shop', '');
    return new DatabaseLog(() => Promise.resolve(project), writer, 'memory');
  };
  onTestFinished(async () => void (await Promise.all(databases.map((each) => each.close()))));
  return {
    log,
    open: async (options) => opened(await log(), folder, options),
    remove: () => Promise.resolve(),
  };
}

describe.skipIf(programs === undefined)('memories in a database', () => {
  beforeAll(async () => void (cluster = await Cluster.start(programs ?? '')));
  afterAll(() => cluster?.remove());

  // An index hears of lines, wherever they are; that these come from a database as from files is in `log.test.ts`.
  if (isDeep) storeContract('sqlite over PostgreSQL', place);

  it('are found in the same order as those of the same lines in files', async () => {
    const { log, open } = await place();
    const store = await open();
    const nouns = ['orders', 'invoices', 'carts', 'refunds', 'sessions', 'prices', 'stock', 'taxes'];
    const verbs = ['are kept in', 'are written to', 'are read from', 'never leave', 'come from'];
    const places = ['Redis', 'PostgreSQL', 'the warehouse', 'a queue', 'the archive'];
    const texts = nouns.flatMap((noun) =>
      verbs.flatMap((verb) => places.map((where) => `All ${noun} ${verb} ${where} of the shop`)),
    );
    await store.upsert(
      texts.map((text, at) => memory(`m${at}`, text, { at: new Date(at * 60_000).toISOString() })),
    );
    const folder = await temporaryFolder(onTestFinished);
    const files = new LineFiles({ folder: join(folder, 'lines'), isPrivate: false }, writer);
    for await (const { lines } of (await log()).read(new Map()))
      await files.put(lines.map(({ line }) => line));
    const same = await opened(files, folder);
    const asked = nouns.flatMap((noun) =>
      verbs.flatMap((verb) => places.map((where) => [noun, verb, where].join(' '))),
    );
    expect(asked).toHaveLength(200);
    for (const question of asked) {
      const query = { terms: question.toLowerCase().split(' '), filter: {}, limit: 10 };
      const [here, there] = [await store.search(query), await same.search(query)];
      expect(here.map(({ entry }) => entry.id)).toEqual(there.map(({ entry }) => entry.id));
      expect(here.length).toBeGreaterThan(0);
    }
    await store.close();
    await same.close();
  });
});
