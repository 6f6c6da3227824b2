import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { LineFiles } from '../../src/lines/files.ts';
import { IndexInMemory } from '../../src/services/memory/in-memory.ts';
import { QdrantPlace } from '../../src/services/memory/qdrant/shared.ts';
import type { NewMemory, VectorSpace } from '../../src/services/memory/engine.ts';
import { MemoryStore } from '../../src/services/memory/store.ts';
import { temporaryFolder } from '../support/app.ts';
import { isDeep } from '../support/how-much.ts';
import { KIT_FILES, writeFiles } from '../support/kit-project.ts';
import { storeIn } from './open-project.ts';
import { storeContract } from './contract.ts';
import { FakeQdrant } from './fake-qdrant.ts';
import { againstOpenApi } from './qdrant-openapi.ts';
import { memory, storeOptions, uuid, type OpenOptions } from './places.ts';
import { embedded, otherSpace, space } from './words.ts';

/** A server, told by lines that all processes of a test share, or all of one person. */
function beside(shared: QdrantPlace, given?: OpenOptions, who = ''): MemoryStore {
  const options = storeOptions(given);
  const at = shared.at.split(' ')[0]?.replace(/\W/g, '-');
  const place = join(tmpdir(), `bmad-qdrant-${at}-${process.pid}${who}`);
  onTestFinished(() => rm(place, { recursive: true, force: true }));
  const writer = { machine: () => Promise.resolve('k7q2'), by: { kind: 'local' as const, name: 'ada' } };
  const log = new LineFiles({ folder: place, isPrivate: false }, writer);
  return new MemoryStore(log, new IndexInMemory(options), options, { shared });
}

// The store is the one of the lines beside it, for which `lined.test.ts` has the contract; what a server adds is below.
if (isDeep)
  storeContract('qdrant (fake server)', async () => {
    const fake = new FakeQdrant();
    const url = await fake.start();
    return {
      open: async (options) =>
        beside(new QdrantPlace({ ...storeOptions(options), address: { url } }), options),
      remove: async () => fake.stop(),
    };
  });

/** A real server, where one is given. Each place is a project of its own, so nothing of others is touched. */
const real = process.env['BMAD_TEST_QDRANT_URL'];
if (real !== undefined)
  storeContract('qdrant (real server)', async () => {
    const apiKey = process.env['BMAD_TEST_QDRANT_API_KEY'];
    const project = `bmad-test-${randomBytes(6).toString('hex')}`;
    return {
      open: async (options) =>
        beside(
          new QdrantPlace({ ...storeOptions(options), project, address: { url: real, apiKey } }),
          options,
        ),
      remove: async () => {
        const headers = apiKey === undefined ? {} : { 'api-key': apiKey };
        const listed = await fetch(`${real}/collections`, { headers });
        const { result } = (await listed.json()) as { result: { collections: { name: string }[] } };
        for (const { name } of result.collections)
          if (name.startsWith(project))
            await fetch(`${real}/collections/${encodeURIComponent(name)}`, { method: 'DELETE', headers });
      },
    };
  });

async function server(apiKey?: string): Promise<{ fake: FakeQdrant; url: string }> {
  const fake = new FakeQdrant(apiKey);
  const url = await fake.start();
  onTestFinished(async () => fake.stop());
  return { fake, url };
}

const open = (url: string, options: OpenOptions = {}, apiKey?: string): MemoryStore =>
  beside(new QdrantPlace({ ...storeOptions(options), address: { url, apiKey } }), options);

describe('the figures of a server', () => {
  it('take as many requests for a thousand memories as for few', async () => {
    const { fake, url } = await server();
    const store = open(url, { space: null });
    const requests = async (): Promise<number> => {
      await store.count({});
      fake.requests.length = 0;
      await store.stats();
      return fake.requests.length;
    };
    await store.upsert([memory('first', 'One of few.', { vector: undefined })]);
    const few = await requests();
    await store.upsert(
      Array.from({ length: 1_000 }, (_, at) =>
        memory(`m${at}`, `One of many, ${at}.`, { vector: undefined }),
      ),
    );
    expect(await requests()).toBe(few);
    expect(await store.stats()).toMatchObject({ total: 1_001, live: 1_001, byAgent: { atlas: 1_001 } });
  });

  it('count what BMAD’s own tools have written there, which has fewer keys', async () => {
    const { fake, url } = await server();
    const store = open(url, { space: null });
    await store.upsert([memory('ours', 'One of ours.', { vector: undefined })]);
    const own = [...fake.collections].find(([name]) => name.includes('decisions'))?.[1];
    const add = (name: string, payload: Record<string, unknown>): void =>
      void own?.points.set(uuid(name), { id: uuid(name), vector: undefined, payload });
    add('theirs', { text: 'One of theirs.', agent: 'dev', created_at: '2026-04-01T10:00:00' });
    add('nameless', { text: 'By an unknown agent.', created_at: '2026-02-01T10:00:00' });
    expect(await store.stats()).toMatchObject({
      total: 3,
      live: 3,
      byAgent: { '': 1, atlas: 1, dev: 1 },
      oldest: '2026-02-01T10:00:00.000Z',
      newest: '2026-04-01T10:00:00.000Z',
    });
  });
});

describe('a server beside lines', () => {
  it.each(['sqlite', 'memory'] as const)(
    'hears after a restart what it was not told, with an index in %s',
    async (engine) => {
      const { url } = await server();
      const root = await temporaryFolder(onTestFinished);
      await writeFiles(root, KIT_FILES);
      const user = { state: `${root}/.user`, cache: `${root}/.cache` };
      const each = async (qdrantUrl: string | undefined, work: (store: MemoryStore) => Promise<unknown>) => {
        // What is remembered while the server is not asked goes into lines and their index alone.
        const kind = qdrantUrl === undefined ? engine : ('qdrant' as const);
        const store = await storeIn(root, { ...user, engine: kind, ...(qdrantUrl && { qdrantUrl }) });
        await work(store);
        await store.close();
      };
      const words = (name: string, text: string) => memory(name, text, { vector: undefined });
      const [kept, changed, gone, erased] = ['kept', 'changed', 'gone', 'erased'].map((name) =>
        words(name, `Said as ${name}`),
      ) as [NewMemory, NewMemory, NewMemory, NewMemory];
      await each(url, (store) => store.upsert([kept, changed, gone, erased]));
      await each(undefined, async (store) => {
        await store.update(changed, { text: 'Said in another way', at: '2026-03-09' });
        await store.forget([gone, erased], '2026-03-09');
        await store.purge([erased]);
        await store.upsert([words('new', 'Said meanwhile')]);
      });
      await each(url, async (store) => {
        const { entries } = await store.list({ includeForgotten: true }, { limit: 9 });
        expect(entries.map(({ text, forgottenAt }) => `${text} ${forgottenAt !== undefined}`).sort()).toEqual(
          ['Said as gone true', 'Said as kept false', 'Said in another way false', 'Said meanwhile false'],
        );
      });
    },
  );
});

describe('a memory that is restored while its server is out of reach', () => {
  it('is restored there after a restart', async () => {
    const { url } = await server();
    const root = await temporaryFolder(onTestFinished);
    await writeFiles(root, KIT_FILES);
    const user = { state: `${root}/.user`, cache: `${root}/.cache` };
    const one = memory('back', 'Said, forgotten and wanted again', { vector: undefined });
    const first = await storeIn(root, { ...user, engine: 'qdrant', qdrantUrl: url });
    await first.upsert([one]);
    await first.forget([one], '2026-03-09');
    await first.close();
    const alone = await storeIn(root, { ...user, engine: 'sqlite' });
    await alone.restore([one]);
    await alone.close();
    const again = await storeIn(root, { ...user, engine: 'qdrant', qdrantUrl: url });
    expect((await again.list({}, { limit: 5 })).entries.map(({ text }) => text)).toEqual([one.text]);
    await again.close();
  });
});

describe('a colleague without the lines', () => {
  const words = (name: string, text: string, at?: string): NewMemory =>
    memory(name, text, { vector: undefined, ...(at && { at }) });
  const texts = async (store: MemoryStore, filter = {}): Promise<string[]> =>
    (await store.list(filter, { limit: 99 })).entries.map(({ text }) => text).sort();
  const as = (url: string, who: string): MemoryStore => {
    const options = { space: null };
    return beside(new QdrantPlace({ ...storeOptions(options), address: { url } }), options, who);
  };

  it('finds what others have said, changes it, and both see both', async () => {
    const { url } = await server();
    const [ada, bob] = [as(url, 'ada'), as(url, 'bob')];
    await ada.upsert([words('a', 'Orders are kept in Postgres'), words('b', 'Sessions are kept in Redis')]);
    expect(await texts(bob)).toEqual(['Orders are kept in Postgres', 'Sessions are kept in Redis']);
    const [change] = await bob.upsert([words('a', 'Orders are kept in SQLite')]);
    expect(change).toMatchObject({ outcome: 'updated', entry: { revision: 2 } });
    expect(await ada.get(words('a', ''))).toEqual(change?.entry);
    expect(await ada.revisions(words('a', ''))).toEqual([change?.previous]);
    await bob.forget([words('b', '')], '2026-05-01');
    expect(await texts(ada)).toEqual(['Orders are kept in SQLite']);
    // Without knowing of each other: both texts stay with it until somebody settles it.
    await Promise.all([
      ada.update(words('a', ''), { text: 'Orders are kept by Ada', at: '2026-06-01' }),
      bob.update(words('a', ''), { text: 'Orders are kept by Bob', at: '2026-06-01' }),
    ]);
    for (const each of [ada, bob, ada]) await each.count({});
    const [one, other] = [await ada.get(words('a', '')), await bob.get(words('a', ''))];
    expect(other).toEqual(one);
    expect([one?.text ?? '', ...(one?.others ?? [])].toSorted()).toEqual([
      'Orders are kept by Ada',
      'Orders are kept by Bob',
    ]);
  });

  it('hears of what was removed for good, and loses its text from the lines too', async () => {
    const { fake, url } = await server();
    const [ada, bob] = [as(url, 'ada'), as(url, 'bob')];
    const one = words('secret', 'The xylophone is hidden in the cellar');
    await ada.upsert([one]);
    await bob.forget([one], '2026-05-01');
    await bob.purge([one]);
    expect(await texts(ada, { includeForgotten: true })).toEqual([]);
    expect(await texts(as(url, 'eve'), { includeForgotten: true })).toEqual([]);
    const points = [...fake.collections.values()].flatMap((each) => [...each.points.values()]);
    expect(JSON.stringify(points)).not.toContain('xylophone');
    // The same text again is a new memory.
    expect((await ada.upsert([one]))[0]).toMatchObject({ outcome: 'created', entry: { revision: 1 } });
    expect(await texts(bob)).toEqual([one.text]);
  });

  it('takes what the kit’s own tools write over ours, and what they take away is gone where it has no line', async () => {
    const { fake, url } = await server();
    const ada = as(url, 'ada');
    // After all that is written here, by the clocks of both.
    const later = (hours: number): string =>
      new Date(Date.now() + (24 + hours) * 3_600_000).toISOString().replace('Z', '001');
    await ada.upsert([words('a', 'Orders are kept in Postgres'), words('b', 'Never written over')]);
    const own = fake.collections.get('bmad-shop-decisions');
    const put = (name: string, text: string, created_at: string): void =>
      void own?.points.set(uuid(name), {
        id: uuid(name),
        vector: undefined,
        payload: { text, agent: 'atlas', type: 'decisions', tags: [], project: 'bmad-shop', created_at },
      });
    put('a', 'Orders are kept in Postgres, said again', later(0));
    put('c', 'Only the kit has said this', later(0));
    expect(await texts(ada)).toEqual([
      'Never written over',
      'Only the kit has said this',
      'Orders are kept in Postgres, said again',
    ]);
    put('c', 'Only the kit has said this, twice', later(1));
    expect(await texts(ada)).toContain('Only the kit has said this, twice');
    expect(await texts(ada)).toHaveLength(3);
    // An index that is made again deletes none of them.
    expect(await texts(as(url, 'ada'))).toHaveLength(3);
    expect(own?.points.get(uuid('c'))?.payload).not.toHaveProperty('change_id');
    own?.points.delete(uuid('c'));
    own?.points.delete(uuid('b'));
    expect(await texts(as(url, 'ada'))).toEqual([
      'Never written over',
      'Orders are kept in Postgres, said again',
    ]);
    // Other programs may number their points.
    const number = 7 as unknown as string;
    own?.points.set(number, {
      id: number,
      vector: undefined,
      payload: { text: 'Numbered', created_at: later(1.5) },
    });
    for (const each of [ada, ada, as(url, 'bob')]) expect(await texts(each)).toContain('Numbered');
    own?.points.delete(number);
    // Changed here, it has a line of its own.
    put('d', 'Adopted when it is changed', later(2));
    await ada.update(words('d', ''), { tags: ['kept'], at: `${later(3)}Z` });
    own?.points.delete(uuid('d'));
    expect(await texts(as(url, 'ada'))).toContain('Adopted when it is changed');
  });

  it('asks once for each type when there is nothing new, however many points there are', async () => {
    const { fake, url } = await server();
    const [ada, bob] = [as(url, 'ada'), as(url, 'bob')];
    await ada.upsert(Array.from({ length: 1_500 }, (_, at) => words(`m${at}`, `One of many, ${at}`)));
    const own = fake.collections.get('bmad-shop-decisions');
    for (let at = 0; at < 700; at++)
      own?.points.set(uuid(`k${at}`), {
        id: uuid(`k${at}`),
        vector: undefined,
        payload: {
          text: `The kit, ${at}`,
          agent: 'dev',
          created_at: new Date(1e12 + at * 1e6).toISOString(),
        },
      });
    for (const each of [ada, bob]) {
      expect(await each.count({})).toBe(2_200);
      fake.requests.length = 0;
      expect(await each.count({ agents: ['dev'] })).toBe(700);
      expect(fake.requests).toHaveLength(5);
    }
    await bob.upsert([words('late', 'One more')]);
    fake.requests.length = 0;
    expect(await ada.count({})).toBe(2_201);
    expect(fake.requests).toHaveLength(5);
  });
});

describe('memories on Qdrant', () => {
  it('are in the collections of BMAD, with its keys and indexes', async () => {
    const { fake, url } = await server();
    await open(url).upsert([memory('a', 'We use Postgres.', { tags: ['db'] })]);
    expect([...fake.collections.keys()].toSorted()).toEqual(
      ['agent-learnings', 'decisions', 'failures', 'shared-context', 'stories'].map(
        (type) => `bmad-shop-${type}`,
      ),
    );
    const collection = fake.collections.get('bmad-shop-decisions');
    expect(collection?.config).toMatchObject({
      vectors: { size: space.dim, distance: 'Cosine' },
      metadata: { embedder: space.embedder, dim: space.dim },
    });
    expect(Object.keys(collection?.indexes ?? {})).toEqual(
      expect.arrayContaining(['agent', 'tags', 'type', 'created_at', 'changed_at']),
    );
    expect(collection?.points.get(uuid('a'))?.payload).toMatchObject({
      text: 'We use Postgres.',
      agent: 'atlas',
      type: 'decisions',
      tags: ['db'],
      project: 'bmad-shop',
      created_at: '2026-03-01T10:00:00.000Z',
    });
  });

  const miniLm: VectorSpace = { embedder: 'ollama:all-minilm', dim: 384 };
  const foreign = {
    text: 'Choix Qdrant local',
    agent: 'atlas',
    type: 'decisions',
    tags: ['infra'],
    project: 'bmad-shop',
    created_at: '2026-02-01T09:30:00.123456',
  };
  function foreignCollection(fake: FakeQdrant): void {
    const vector = Array.from({ length: 384 }, (_, index) => (index === 3 ? 1 : 0));
    fake.collections.set('bmad-shop-decisions', {
      config: { vectors: { size: 384, distance: 'Cosine' } },
      indexes: {},
      points: new Map([[uuid('f'), { id: uuid('f'), vector, payload: { ...foreign } }]]),
    });
  }

  it('never go into a collection with vectors of another model, whose memories are found all the same', async () => {
    const { fake, url } = await server();
    foreignCollection(fake);
    const store = open(url);
    await store.upsert([memory('a', 'We use Postgres.')]);
    const theirs = fake.collections.get('bmad-shop-decisions');
    expect([...(theirs?.points.values() ?? [])].map(({ payload }) => payload)).toEqual([foreign]);
    expect(await store.list({}, { limit: 5 })).toMatchObject({
      entries: [{ id: uuid('a') }, { id: uuid('f') }],
    });
    expect(await store.search({ terms: ['qdrant'], filter: { tagsAll: ['infra'] }, limit: 5 })).toMatchObject(
      [{ entry: { text: 'Choix Qdrant local', createdAt: '2026-02-01T09:30:00.123Z' }, coverage: 1 }],
    );
    expect((await store.pending({ limit: 5 })).entries).toMatchObject([{ id: uuid('f') }]);
    const same = open(url);
    expect(await same.count({})).toBe(2);
  });

  it('go into the collection of BMAD itself when the model is the same', async () => {
    const { fake, url } = await server();
    foreignCollection(fake);
    const store = open(url, { space: miniLm });
    await store.upsert([memory('a', 'We use Postgres.', { vector: embedded('Postgres', miniLm) })]);
    expect(fake.collections.get('bmad-shop-decisions')?.points.size).toBe(2);
    expect(await store.count({ agents: ['atlas'], since: '2026-01-15' })).toBe(2);
    expect(await store.search({ terms: ['choix'], filter: {}, limit: 5 })).toHaveLength(1);
  });

  it('move to another embedder without a moment in which they are not found', async () => {
    const { fake, url } = await server();
    const old = open(url);
    await old.upsert([memory('a', 'We use Postgres.'), memory('b', 'We use Redis.')]);
    const theirs = (): unknown => [...(fake.collections.get('bmad-shop-decisions')?.points.values() ?? [])];
    const before = structuredClone(theirs());
    const store = open(url, { space: otherSpace });
    expect(await store.count({})).toBe(2);
    expect(await store.embedding()).toEqual({ total: 2, embedded: 0 });
    await store.upsert([memory('c', 'We use Kafka.', { vector: embedded('We use Kafka.', otherSpace) })]);
    expect(await old.search({ terms: ['kafka'], filter: {}, limit: 5 })).toHaveLength(1);
    const { entries } = await store.pending({ limit: 10 });
    await store.setVectors(
      entries.map(({ type, id, text }) => ({
        key: { type, id },
        text,
        vector: embedded(text, otherSpace),
      })),
    );
    const [name, own] = [...fake.collections].find(([each]) => each.includes('decisions--other-words')) ?? [];
    expect(name).toBeDefined();
    const vectors = [...(own?.points.values() ?? [])].map(({ vector }) => vector?.length);
    expect(vectors).toEqual([otherSpace.dim, otherSpace.dim, otherSpace.dim]);
    expect(theirs()).toEqual(expect.arrayContaining(before as unknown[]));
    expect(await store.health()).toMatchObject({ degraded: false });
  });

  it('survive a server that stumbles, and say so when it is gone', async () => {
    const { fake, url } = await server();
    const store = open(url);
    await store.upsert([memory('a', 'We use Postgres.')]);
    fake.faults.push(503, 429, 500);
    expect(await store.count({})).toBe(1);
    fake.faults.push(...Array.from({ length: 40 }, () => 503));
    await expect(store.count({})).rejects.toMatchObject({ code: 'unavailable' });
    fake.faults.length = 0;
    expect(await store.count({}), 'and it works again').toBe(1);
    await fake.stop();
    await expect(store.count({})).rejects.toThrow(/does not respond/);
    expect(await store.health()).toMatchObject({ engine: 'qdrant', degraded: true });
  });

  it('need the right key', async () => {
    const { url } = await server('sesame');
    await expect(open(url).count({})).rejects.toThrow(/requires a key/);
    await expect(open(url, {}, 'wrong').count({})).rejects.toMatchObject({
      hint: expect.stringContaining('BMAD_QDRANT_API_KEY') as string,
    });
    expect(await open(url, {}, 'sesame').count({})).toBe(0);
    const health = await open(url, {}, 'wrong').health();
    expect(health).toMatchObject({ degraded: true });
    expect(JSON.stringify(health)).not.toContain('wrong');
  });

  it('are not put into a collection of ours that somebody made with another dimension', async () => {
    const { fake, url } = await server();
    await open(url).count({});
    for (const size of [8, 7]) {
      for (const [name, collection] of fake.collections)
        if (name.startsWith('bmad-shop-stories'))
          collection.config = { vectors: { size, distance: 'Cosine' } };
      // The name of the kit may be taken; ours are then beside it.
      if (size === 8) expect(await open(url).count({})).toBe(0);
    }
    await expect(open(url).count({})).rejects.toThrow(/another embedder/);
  });

  it('keep every wording when two processes change one memory at the same time', async () => {
    const { url } = await server();
    const stores = [open(url), open(url), open(url), open(url)];
    await stores[0]?.upsert([memory('a', 'Wording from before.')]);
    await Promise.all(
      stores.map(async (store, who) => store.upsert([memory('a', `Wording of process ${who}.`)])),
    );
    const revisions = (await stores[0]?.revisions(memory('a', ''))) ?? [];
    expect(revisions).toHaveLength(4);
  });

  it('need an address that is one', async () => {
    for (const url of ['nonsense', 'ftp://x', ''])
      expect(() => open(url)).toThrow(/not an http or https URL/);
    await expect(open('http://127.0.0.1:9').health()).resolves.toMatchObject({ degraded: true });
  });
});

describe('every request and every answer above', () => {
  it('is one of Qdrant’s published OpenAPI', async () => {
    const { objections, checked, paths } = await againstOpenApi(FakeQdrant.exchanges);
    process.stderr.write(
      `${FakeQdrant.exchanges.length} exchanges, ${checked} different bodies on ${paths.length} paths against the OpenAPI\n`,
    );
    expect(objections).toEqual([]);
    expect(paths).toHaveLength(8);
    expect(checked).toBeGreaterThan(50);
  });

  it('would be objected to where it is not', async () => {
    const path = '/collections/{collection_name}/points/count';
    const answer = { status: 'ok', time: 0, result: { count: 'many' } };
    const { objections } = await againstOpenApi([{ method: 'post', path, body: { exakt: true }, answer }]);
    expect(objections).toHaveLength(2);
  });
});
