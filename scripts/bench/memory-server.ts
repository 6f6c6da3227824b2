import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { memoryId } from '../../src/kit/memories/entries.ts';
import { openStaticEmbedder } from '../../src/meaning/embedders/static.ts';
import { MEMORY_TYPES } from '../../src/model/memory.ts';
import { userCacheFolder, userStateFolder } from '../../src/config/locations.ts';
import { kitAtHome } from '../../src/kit/kit.ts';
import { ProjectLogs } from '../../src/kit/project-log.ts';
import { ANALYSER } from '../../src/services/memory/rank.ts';
import { openStore } from '../../src/services/memory/open.ts';
import { callTool, withClient, type Client } from './client.ts';
import { percentile } from './figures.ts';
import { atRest, processorMilliseconds, residentMebibytes } from './system.ts';

/**
 * The built server with many memories: `npm run bench:memory:server -- [size] [folder that is kept]`. Memories are pairs of
 * sentences from the built-in content, with the vectors and words that the server makes of them. All times are the
 * processor's, of all threads.
 */

const ROUNDS = 60;
const BATCH = 1_000;
const LEAST_WORDS = 6;

function sentencesIn(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.md'),
  );
  const found = files.flatMap((name) =>
    readFileSync(join(folder, name), 'utf8')
      .split(/\n|(?<=[.!?]) /)
      .map((line) => line.replace(/^[\s#>*\-\d.|]+/, '').trim())
      .filter((line) => line.length < 200 && line.split(' ').length >= LEAST_WORDS),
  );
  return [...new Set(found)].sort();
}

/** The memories as the server itself would keep them: lines in the project, and the index in the user's cache. */
async function fill(folder: string, home: string, size: number): Promise<number> {
  const embedder = await openStaticEmbedder(resolve('assets'));
  const sentences = sentencesIn(resolve('dist', 'content'));
  const surroundings = { env: {}, home, platform: process.platform };
  const [state, cache] = [userStateFolder(surroundings), userCacheFolder(surroundings)];
  const kit = await kitAtHome(folder, state);
  const project = kit.app;
  const engine = {
    engine: 'sqlite',
    journal: 'auto',
    qdrantUrl: undefined,
    qdrantApiKey: undefined,
  } as const;
  const store = await openStore(
    { kit, state, cache, env: process.env, engine, writes: true, logs: new ProjectLogs() },
    { project, analyser: ANALYSER, space: { embedder: embedder.id, dim: embedder.dim } },
    () => undefined,
  );
  const began = performance.now();
  for (let from = 0; from < size; from += BATCH) {
    const made = Array.from({ length: Math.min(BATCH, size - from) }, (_, at) => {
      const index = from + at;
      const number = createHash('sha256').update(`memory ${index}`).digest().readUInt32LE(0);
      const agent = `agent-${index % 12}`;
      const one = sentences[index % sentences.length] ?? '';
      const text = `${index}: ${one} ${sentences[number % sentences.length] ?? ''}`;
      const type = MEMORY_TYPES[index % MEMORY_TYPES.length] ?? 'stories';
      const moment = new Date(Date.UTC(2026, 0, 1) + index * 60_000).toISOString();
      return {
        id: memoryId(project, agent, text),
        type,
        agent,
        text,
        tags: [`tag-${index % 40}`],
        at: moment,
      };
    });
    const vectors = await embedder.embed(made.map(({ text }) => text));
    await store.upsert(made.map((memory, at) => ({ ...memory, vector: vectors[at] })));
  }
  await store.close();
  return performance.now() - began;
}

/** Wishes that people have of the method, half of them French: as questions, each has another number of words and wordings. */
const { sentences: WISHES } = JSON.parse(readFileSync(resolve('tests', 'search', 'fresh.json'), 'utf8')) as {
  sentences: { text: string }[];
};
const QUESTIONS = WISHES.filter((_, at) => at % 2 === 0).map(({ text }) => text);

async function cost(
  client: Client,
  name: string,
  args: Record<string, unknown>,
  expected: string,
): Promise<number> {
  const before = processorMilliseconds(client.pid);
  await callTool(client, { name, arguments: args, expected });
  return processorMilliseconds(client.pid) - before;
}

async function measure(folder: string, home: string): Promise<string[]> {
  const env = { PATH: process.env['PATH'], HOME: home };
  const args = [resolve('dist', 'bmad-mcp-server.cjs')];
  const program = { name: 'our server', args, folder, env };
  const query = QUESTIONS[0] ?? '';
  const [rested, afterRest] = await withClient(program, async (client) => {
    await client.start();
    await atRest(client);
    const resident = residentMebibytes(client.pid) ?? 0;
    return [await cost(client, 'recall_structured', { query }, ''), resident];
  });
  return withClient(program, async (client) => {
    await client.start();
    const started = processorMilliseconds(client.pid);
    const idle = residentMebibytes(client.pid) ?? 0;
    const recall = async (asked: string, more = {}): Promise<number> =>
      cost(client, 'recall_structured', { query: asked, ...more }, '');
    const first = await recall(query);
    const after = residentMebibytes(client.pid) ?? 0;
    const later: number[] = [];
    const filtered: number[] = [];
    const remembered: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const asked = QUESTIONS[round % QUESTIONS.length] ?? '';
      later.push(await recall(asked));
      if (round % 2 === 0) filtered.push(await recall(asked, { type: 'decisions', agent: 'agent-1' }));
    }
    for (let round = 0; round < ROUNDS / 2; round++)
      remembered.push(
        await cost(
          client,
          'remember_structured',
          {
            type: 'decisions',
            agent: 'dev',
            text: `Measured in round ${round}, ${Date.now()}: ${QUESTIONS[round]}`,
          },
          'id ',
        ),
      );
    const between = await recall('measured in a round');
    const both = (times: readonly number[]): string =>
      [50, 95].map((at) => percentile(times, at).toFixed(0)).join(' / ');
    return [
      started.toFixed(0),
      `${first.toFixed(0)} / ${rested.toFixed(0)}`,
      both(later),
      both(filtered),
      both(remembered),
      between.toFixed(0),
      `${idle.toFixed(0)} (at rest ${afterRest.toFixed(0)}) → ${after.toFixed(0)} → ${(residentMebibytes(client.pid) ?? 0).toFixed(0)}`,
    ];
  });
}

const size = Number(process.argv[2] ?? 100_000);
const kept = process.argv[3];
const scratch = kept === undefined ? await mkdtemp(join(tmpdir(), 'bmad-memory-server-')) : resolve(kept);
try {
  const [folder, home] = [join(scratch, 'project'), join(scratch, 'home')];
  await mkdir(join(folder, '_bmad', '_memory'), { recursive: true });
  const filled = existsSync(home) ? undefined : await fill(folder, home, size);
  const cells = await measure(folder, home);
  const indexes = join(userCacheFolder({ env: {}, home, platform: process.platform }), 'memories');
  const sizes = await Promise.all(
    readdirSync(indexes).map(async (name) => (await stat(join(indexes, name))).size),
  );
  const bytes = sizes.reduce((sum, one) => sum + one, 0);
  process.stdout.write(
    [
      '| memories | filled in s | index MB | start | first recall / at rest | later p50 / p95 | filtered p50 / p95 | remember p50 / p95 | recall after it | RSS MiB: started → first recall → end |',
      '|---|---|---|---|---|---|---|---|---|---|',
      `| ${[size, filled === undefined ? '–' : (filled / 1000).toFixed(0), (bytes / 1e6).toFixed(0), ...cells].join(' | ')} |`,
      '',
    ].join('\n'),
  );
} finally {
  if (kept === undefined) await rm(scratch, { recursive: true, force: true });
}
