import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Database } from '../../src/base/postgres/postgres.ts';
import { userStateFolder } from '../../src/config/locations.ts';
import { execute } from '../../src/operations/execute.ts';
import { auditShow } from '../../src/operations/server/audit.ts';
import { migrate } from '../../src/base/postgres/schema.ts';
import { type Audit, openAudit } from '../../src/services/calls/audit.ts';
import { StateDatabase } from '../../src/services/shared-state/shared-state.ts';
import { contextIn, homeBeside, temporaryFolder, testCall } from '../support/app.ts';
import { Cluster, postgresPrograms } from '../support/postgres.ts';

const programs = postgresPrograms();
const tell = (): void => undefined;
const log = { error: tell, warn: tell, info: tell, debug: tell };
const LINE = {
  by: { kind: 'token', name: 'Ada', token: '0123abcd' },
  operation: 'task_claim',
  outcome: 'ok',
};
const ALL = { since: 0, limit: 1_000 };

describe.skipIf(programs === undefined)('the audit of a team', () => {
  let cluster: Cluster;
  beforeAll(async () => void (cluster = await Cluster.start(programs ?? '')));
  afterAll(() => cluster.remove());

  async function migrated(): Promise<{ address: string; name: string }> {
    const name = await cluster.database();
    const address = cluster.address(name);
    const database = await Database.at(address);
    await migrate(database);
    await database.close();
    return { address, name };
  }

  /** A server of a machine, or one more process of the same user. */
  async function server(address: string, machine: string, state: string): Promise<Audit> {
    const database = await StateDatabase.at(address, () => undefined);
    onTestFinished(() => database.close());
    return openAudit(state, { log, shared: async () => database.audit(() => Promise.resolve(machine)) });
  }

  const calls = async (audit: Audit): Promise<string[]> =>
    (await audit.readAll(ALL)).lines.map(({ machine = '', ms }) => `${machine.split(' ')[1]} ${ms}`);

  it('has the calls of all machines, each once and by its machine, in the order of their times', async () => {
    const { address, name } = await migrated();
    const [here, there] = [await temporaryFolder(onTestFinished), await temporaryFolder(onTestFinished)];
    const [one, other] = [await server(address, 'one', here), await server(address, 'other', there)];
    await one.note({ ...LINE, ms: 1 });
    await other.note({ ...LINE, ms: 2, outcome: 'forbidden', by: { kind: 'oauth', name: 'eve\0\uD800' } });
    await Promise.all([one.readAll(ALL), other.readAll(ALL)]);
    await one.note({ ...LINE, ms: 3 });
    // Another process of the same user has the same files.
    const again = await server(address, 'one', here);
    await Promise.all([one.readAll(ALL), again.readAll(ALL)]);
    expect((await calls(other)).sort()).toEqual(['one 1', 'one 3', 'other 2']);
    expect((await one.read(ALL)).lines.map(({ ms }) => ms)).toEqual([1, 3]);
    const asked = async (wanted: object) => (await other.readAll({ ...ALL, ...wanted })).lines.length;
    expect(await asked({ caller: 'ADA' })).toBe(2);
    expect(await asked({ caller: '0123abcd', operation: 'task_claim' })).toBe(2);
    expect(await asked({ outcome: 'forbidden' })).toBe(1);
    expect(await asked({ since: Date.now() + 60_000 })).toBe(0);
    expect(await other.readAll({ ...ALL, limit: 2 })).toMatchObject({ more: 1, bad: 0 });
    // Whoever follows lines has none of these to pass by.
    expect(await cluster.ask(name, 'select * from bmad.project')).toEqual([]);
  });

  it('is kept on the machine while the database is away, and is all there when it is back', async () => {
    const { address } = await migrated();
    const one = await server(address, 'one', await temporaryFolder(onTestFinished));
    await one.note({ ...LINE, ms: 1 });
    expect(await calls(one)).toEqual(['one 1']);
    await cluster.end();
    try {
      expect(await Promise.all([2, 3].map((ms) => one.note({ ...LINE, ms })))).toEqual([
        undefined,
        undefined,
      ]);
      expect(one.trouble()).toBeUndefined();
      const alone = await one.readAll(ALL);
      expect(alone.lines.map(({ ms }) => ms)).toEqual([1, 2, 3]);
      expect(alone.alone).toContain('cannot be reached');
    } finally {
      await cluster.begin();
    }
    expect((await calls(one)).sort()).toEqual(['one 1', 'one 2', 'one 3']);
  });

  it('comes there by itself, and stays as it is for a user of rows', async () => {
    const { address, name } = await migrated();
    const one = await server(address, 'one', await temporaryFolder(onTestFinished));
    await one.note({ ...LINE, ms: 1 });
    const count = () => cluster.ask(name, 'select count(*)::int as lines from bmad.audit');
    await expect.poll(count).toEqual([{ lines: 1 }]);
    await cluster.ask(name, 'create role auditor login');
    const owner = await Database.at(address);
    await migrate(owner, 'auditor');
    await owner.close();
    for (const change of ['delete from bmad.audit', `update bmad.audit set body = ''`])
      await expect(cluster.ask(name, change, 'auditor')).rejects.toThrow('permission denied');
    expect(await cluster.ask(name, 'select 1 as may from bmad.audit', 'auditor')).toEqual([{ may: 1 }]);
  });

  it('is shown with the machine, and with why others are missing', async () => {
    const { address } = await migrated();
    const folder = await temporaryFolder(onTestFinished);
    const state = userStateFolder({ env: {}, home: homeBeside(folder), platform: process.platform });
    const other = await server(address, 'other', await temporaryFolder(onTestFinished));
    await other.note({ ...LINE, ms: 2 });
    await other.readAll(ALL);
    const context = await contextIn(folder, { env: { BMAD_STATE: address } });
    onTestFinished(() => context.close());
    const shown = async () => {
      const outcome = await execute(auditShow, {}, context, testCall());
      if (!outcome.ok) throw outcome.error;
      return outcome.answer;
    };
    expect((await shown()).body).toMatch(/Z \S+ other token Ada 0123abcd \| task_claim \| ok 2 ms$/);
    await cluster.end();
    try {
      expect(await shown()).toMatchObject({
        body: expect.stringContaining('No call has been audited') as string,
        note: expect.stringContaining('DEGRADED, only the calls of this machine are shown') as string,
      });
      expect((await shown()).note).toContain(join(state, 'audit'));
    } finally {
      await cluster.begin();
    }
  });
});
