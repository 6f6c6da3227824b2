import { createHash } from 'node:crypto';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MEMORY_TYPES } from '../../src/model/memory.ts';
import { LineFiles } from '../../src/lines/files.ts';
import type { NewMemory, StoreOptions } from '../../src/services/memory/engine.ts';
import type { MemoryIndex } from '../../src/services/memory/followed.ts';
import { MemoryStore } from '../../src/services/memory/store.ts';
import { IndexInMemory } from '../../src/services/memory/in-memory.ts';
import { sqliteDriver } from '../../src/services/memory/sqlite/database.ts';
import { SqliteIndex } from '../../src/services/memory/sqlite/index.ts';
import { percentile } from './figures.ts';

/**
 * Measures memories in lines, with each index of them: `npm run bench:memory -- [index] [size...]`. Texts are made of
 * words as unevenly common as in a language; vectors are random, which costs the same as meaningful ones.
 */

const DIM = 192;
const VOCABULARY = 20_000;
const COMMON = 60;
const WORDS = 30;
const ROUNDS = 60;

const options: StoreOptions = {
  project: 'bmad-bench',
  analyser: { id: 'bench-1', terms: (text) => text.split(' ') },
  space: { embedder: 'bench', dim: DIM },
};

/** Numbers that are the same on every run. */
let seed = 12_345;
function random(): number {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
  return seed / 2_147_483_648;
}

/** Without the sixty most common words, as an analyser leaves them out. */
const word = (): string => `w${Math.floor(COMMON * (VOCABULARY / COMMON) ** random()).toString(36)}`;
const sentence = (length: number): string => Array.from({ length }, word).join(' ');
const vector = (): Float32Array => Float32Array.from({ length: DIM }, () => random() - 0.5);

function made(index: number): NewMemory {
  const hex = createHash('sha256').update(`memory ${index}`).digest('hex');
  return {
    id: `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`,
    type: MEMORY_TYPES[index % MEMORY_TYPES.length] ?? 'stories',
    agent: `agent-${index % 12}`,
    text: sentence(WORDS),
    tags: [`tag-${index % 40}`],
    at: new Date(Date.UTC(2026, 0, 1) + index * 60_000).toISOString(),
    vector: vector(),
  };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** For how long, at most, nothing else of the process could run meanwhile. */
async function longestHold(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = performance.now();
  const look = (): void => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  };
  const clock = setInterval(look, 1);
  await new Promise((resolve) => setTimeout(resolve, 10));
  longest = 0;
  await work();
  // A hold is seen at its end.
  await new Promise((resolve) => setTimeout(resolve, 10));
  clearInterval(clock);
  return longest;
}

/** Median and 95th percentile on the clock, and the mean of the processor's time, which other load does not change. */
async function spread(work: () => Promise<unknown>): Promise<string> {
  const times: number[] = [];
  const before = process.cpuUsage();
  for (let round = 0; round < ROUNDS; round++) times.push(await timed(work));
  const { user, system } = process.cpuUsage(before);
  const cpu = ((user + system) / 1000 / ROUNDS).toFixed(1);
  return `${percentile(times, 50).toFixed(1)} / ${percentile(times, 95).toFixed(1)} (${cpu})`;
}

const INDEX_FILE = 'index.db';

const indexes: Record<string, (folder: string) => Promise<MemoryIndex>> = {
  sqlite: async (folder) => new SqliteIndex(join(folder, INDEX_FILE), await sqliteDriver(), options),
  memory: () => Promise.resolve(new IndexInMemory(options)),
};

async function opened(engine: string, folder: string): Promise<MemoryStore> {
  const indexOf = indexes[engine];
  if (indexOf === undefined)
    throw new Error(`no index ${engine}; there are: ${Object.keys(indexes).join(', ')}`);
  const log = new LineFiles(
    { folder: join(folder, 'lines'), isPrivate: false },
    { machine: () => Promise.resolve('bench'), by: { kind: 'local', name: 'bench' } },
  );
  return new MemoryStore(log, await indexOf(folder), options);
}

/** Without the index: all lines are taken in again. */
async function rebuilt(engine: string, folder: string): Promise<number> {
  for (const end of ['', '-wal', '-shm']) await rm(join(folder, `${INDEX_FILE}${end}`), { force: true });
  const store = await opened(engine, folder);
  const time = await timed(async () => store.count({}));
  await store.close();
  return time;
}

async function measure(engine: string, size: number): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'bmad-memory-bench-'));
  try {
    const filling = await opened(engine, folder);
    const fill = await timed(async () => {
      for (let from = 0; from < size; from += 1_000)
        await filling.upsert(
          Array.from({ length: Math.min(1_000, size - from) }, (_, index) => made(from + index)),
        );
    });
    await filling.close();
    let store!: MemoryStore;
    const query = (filter = {}, limit = 5) => ({
      terms: sentence(7).split(' '),
      vector: vector(),
      filter,
      limit,
    });
    const opening = await timed(async () => {
      store = await opened(engine, folder);
    });
    let first = 0;
    const held = await longestHold(async () => {
      first = await timed(async () => store.search(query()));
    });
    const both = await spread(async () => store.search(query()));
    const byWords = await spread(async () => store.search({ ...query(), vector: undefined }));
    const filtered = await spread(async () =>
      store.search(query({ types: ['decisions'], agents: ['agent-1'] })),
    );
    const listing = await spread(async () => store.list({}, { limit: 20 }));
    let next = size;
    const writing = await spread(async () => store.upsert([made(next++)]));
    const health = await timed(async () => store.health());
    await store.close();
    const again = await rebuilt(engine, folder);
    const bytes = engine === 'sqlite' ? (await stat(join(folder, INDEX_FILE))).size : 0;
    return `| ${[
      engine,
      size,
      (fill / 1000).toFixed(1),
      `${opening.toFixed(0)} + ${first.toFixed(0)}`,
      held.toFixed(0),
      both,
      byWords,
      filtered,
      listing,
      writing,
      health.toFixed(0),
      (again / 1000).toFixed(1),
      (bytes / 1e6).toFixed(0),
      (process.memoryUsage().rss / 1e6).toFixed(0),
    ].join(' | ')} |`;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const [engine, ...sizes] = process.argv.slice(2);
const lines = [
  '| index | memories | filled in s | open + first search ms | held up at most ms | search p50 / p95 (CPU) ms | words only | filtered | list 20 | upsert | health | index made again s | index MB | memory MB |',
  '|---|---|---|---|---|---|---|---|---|---|---|---|---|---|',
];
for (const name of engine === undefined ? Object.keys(indexes) : [engine])
  for (const size of sizes.length === 0 ? [1_000, 10_000] : sizes.map(Number))
    lines.push(await measure(name, size));
process.stdout.write(`${lines.join('\n')}\n`);
