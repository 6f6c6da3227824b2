import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { LineFiles } from '../../src/lines/files.ts';
import type { Maker } from '../../src/services/memory/followed.ts';
import { MemoryStore } from '../../src/services/memory/store.ts';
import { sqliteDriver } from '../../src/services/memory/sqlite/database.ts';
import { SqliteIndex } from '../../src/services/memory/sqlite/index.ts';
import { makeIndex } from '../../src/services/memory/open.ts';
import { temporaryFolder } from '../support/app.ts';
import { writeFiles } from '../support/kit-project.ts';
import { openProject, storeIn } from './open-project.ts';
import { keyOf, memory, storeOptions } from './places.ts';
import { openLines, partsOf } from './processes.ts';

const MANY = 2_600;
const NEVER = new AbortController().signal;

/** A store on lines that are there already, whose index is to be made from all of them. */
async function beside(folder: string, maker: Maker): Promise<MemoryStore> {
  const options = storeOptions();
  const writer = { machine: () => Promise.resolve('b'), by: { kind: 'local' as const, name: 'b' } };
  const log = new LineFiles({ folder: partsOf(folder).lines, isPrivate: false }, writer);
  const index = new SqliteIndex(partsOf(folder).index, await sqliteDriver(), options);
  return new MemoryStore(log, index, options, { maker });
}

async function manyLines(): Promise<string> {
  const folder = await temporaryFolder(onTestFinished);
  const all = Array.from({ length: MANY }, (_, at) => memory(`m${at}`, `Memory ${at} of a quokka`));
  // An index that has the first of them; all others come from elsewhere.
  const store = await openLines('sqlite', folder);
  await store.upsert(all.slice(0, 100));
  await store.close();
  const other = await openLines('memory', folder);
  await other.upsert(all.slice(100));
  await other.close();
  return folder;
}

/** What a thread does, as far as it is let. */
function held(folder: string): { maker: Maker; go: () => void; asked: Promise<void> } {
  let go = (): void => undefined;
  let ask = (): void => undefined;
  const free = new Promise<void>((resolve) => (go = resolve));
  const asked = new Promise<void>((resolve) => (ask = resolve));
  const maker: Maker = async (tell, signal) => {
    ask();
    await free;
    const store = await openLines('sqlite', folder);
    await store.takeIn(tell, signal);
    await store.close();
  };
  return { maker, go, asked };
}

describe('an index that has to be made from many lines', () => {
  it('answers with what is there, says so, and lets writers wait for all of it', async () => {
    const folder = await manyLines();
    const { maker, go, asked } = held(folder);
    const store = await beside(folder, maker);
    const found = await store.search({ terms: ['quokka'], filter: {}, limit: MANY });
    await asked;
    expect(found).toHaveLength(100);
    expect(store.making()).toMatch(/being made from the lines, 0 so far/);
    const told: string[] = [];
    const whole = store.whole((note) => told.push(note));
    const last = memory(`m${MANY - 1}`, 'Said in another way');
    const changed = store.upsert([last]);
    expect(await Promise.race([changed, Promise.resolve('waits')])).toBe('waits');
    go();
    await whole;
    expect(told.at(-1)).toContain(`${MANY - 100} so far`);
    // It was known when it was changed, though it was among the last lines.
    expect((await changed)[0]).toMatchObject({ outcome: 'updated' });
    expect(await store.revisions(keyOf(last))).toHaveLength(1);
    expect(store.making()).toBeUndefined();
    expect(await store.count({})).toBe(MANY);
    await store.close();
  });

  it('is made in this thread where the other one fails', async () => {
    const folder = await manyLines();
    const store = await beside(folder, () => Promise.reject(new Error('no thread')));
    await store.whole();
    expect(await store.count({})).toBe(MANY);
    expect(store.making()).toBeUndefined();
    await store.close();
  });

  it('is left as it is where the server ends, and goes on with the next one', async () => {
    const folder = await manyLines();
    const { maker, go, asked } = held(folder);
    const store = await beside(folder, maker);
    await store.count({});
    await asked;
    const closed = store.close();
    go();
    await closed;
    const next = await openLines('sqlite', folder);
    expect(await next.count({})).toBe(MANY);
    await next.close();
  });

  it('is made by several at a time without harm', async () => {
    const folder = await manyLines();
    const stores = await Promise.all([1, 2, 3].map(() => openLines('sqlite', folder)));
    await Promise.all(stores.map((each) => each.takeIn(() => undefined, NEVER)));
    expect(await stores[0]?.count({})).toBe(MANY);
    await Promise.all(stores.map((each) => each.close()));
  });

  it('is listed with what only files have, without waiting for it', async () => {
    const root = await temporaryFolder(onTestFinished);
    await writeFiles(root, {
      '_bmad/_memory/decisions-log.md': '# Decisions Log\n\n- [2026-02-11] NATS for our messages\n',
    });
    const before = await storeIn(root, { engine: 'memory' });
    const texts = Array.from({ length: MANY }, (_, at) => `Memory ${at} of a quokka`);
    await before.upsert(
      texts.map((text, at) => ({ ...memory(`m${at}`, text), type: 'decisions' as const, vector: undefined })),
    );
    await before.close();
    let go = (): void => undefined;
    const free = new Promise<void>((resolve) => (go = resolve));
    const project = await openProject(root, {
      thread: async (data, signal, tell) => {
        await Promise.race([free, once(signal, 'abort')]);
        await makeIndex(data, signal, tell);
      },
    });
    onTestFinished(() => project.close());
    const page = { limit: 10 };
    const listed = async (): Promise<string[]> =>
      (await project.list({ type: 'decisions' }, page)).entries.map(({ text }) => text);
    expect(await listed()).toEqual(['NATS for our messages']);
    expect(await project.count({ type: 'decisions', agents: ['team'] })).toBe(1);
    expect(await project.count({ type: 'decisions', agents: ['dev'] })).toBe(0);
    expect(project.notes().join()).toContain('being made from the lines');
    go();
    await project.remember({ type: 'decisions', agent: 'dev', text: 'Another one' });
    expect(await project.count({ type: 'decisions' })).toBe(MANY + 2);
  });

  it('is listed with each text once, without those that are known to be gone or said otherwise', async () => {
    const root = await temporaryFolder(onTestFinished);
    await writeFiles(root, {
      '_bmad/_memory/decisions-log.md': [
        '# Decisions Log\n',
        '- [2026-02-11] NATS for our messages',
        '- [2026-02-12] NATS for our messages',
        '- [2026-02-13] Forgotten under another id',
        '- [2026-02-14] As it was said before',
        '- [2026-02-15] Said in the index too\n',
      ].join('\n'),
    });
    const decision = (id: string, text: string) => ({
      ...memory(id, text),
      type: 'decisions' as const,
      vector: undefined,
    });
    const before = await storeIn(root);
    const known = [
      decision('f1', 'Forgotten under another id'),
      decision('e1', 'As it was said before'),
      decision('l1', 'Said in the index too'),
    ];
    await before.upsert(known);
    await before.forget([keyOf(known[0] ?? decision('', ''))], '2026-03-01T00:00:00.000Z');
    await before.upsert([decision('e1', 'As it is said now')]);
    await before.close();
    const other = await storeIn(root, { engine: 'memory' });
    await other.upsert(Array.from({ length: MANY }, (_, at) => decision(`m${at}`, `Memory ${at}`)));
    await other.close();
    let go = (): void => undefined;
    const free = new Promise<void>((resolve) => (go = resolve));
    const project = await openProject(root, {
      thread: async (data, signal, tell) => {
        await Promise.race([free, once(signal, 'abort')]);
        await makeIndex(data, signal, tell);
      },
    });
    onTestFinished(() => project.close());
    const { entries } = await project.list({ type: 'decisions' }, { limit: 10 });
    expect(project.notes().join()).toContain('being made from the lines');
    expect(entries.map(({ text }) => text).sort()).toEqual([
      'As it is said now',
      'NATS for our messages',
      'Said in the index too',
    ]);
    expect(await project.count({ type: 'decisions' })).toBe(3);
    go();
  });
});
