import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cleanEnvironment, type Contender } from './contenders.ts';
import { openSession, sessionShot, startServer } from './http-client.ts';
import { realSentence, writeProject } from './made-project.ts';
import { percentile } from './figures.ts';
import { cpuMilliseconds } from './system.ts';

/** How long calls take while others ask too, over HTTP, where callers meet. */
export interface Load {
  workflows: number;
  /** One caller beside another who has so many calls under way at all times. */
  beside: { lanes: number; calls: Beside[] };
  /** Clients that all ask without a pause, each what comes next in the same round of calls. */
  mixed: { clients: number; calls: Mixed[]; seconds: number; cpuMs: number | undefined };
}

interface Beside {
  what: Asked;
  aloneMs: number;
  besideMs: number;
}

interface Mixed {
  what: Asked;
  calls: number;
  p50Ms: number;
  p95Ms: number;
}

const WORKFLOWS = 500;
const LANES = 30;
const CALLS = 25;
const CLIENTS = 200;
const MIXED_MS = 15_000;
const ANSWER_MS = 120_000;
const TOKENS = { polite: 'the-token-of-one-caller', greedy: 'the-token-of-another' } as const;

type Asked = 'search' | 'execute' | 'list' | 'remember' | 'spawn';

let asked = 0;
const calls: Record<Asked, () => { name: string; arguments: Record<string, unknown> }> = {
  search: () => bmad({ operation: 'search', query: 'something with the harbour' }),
  execute: () => bmad({ operation: 'execute', agent: 'agent-0' }),
  list: () => bmad({ operation: 'list', query: 'agents' }),
  remember: () => ({
    name: 'remember_structured',
    arguments: {
      type: 'decisions',
      agent: 'architect',
      text: `Part ${(asked += 1)} is new: ${realSentence(asked)}`,
    },
  }),
  spawn: () => ({
    name: 'spawn_subagent_task',
    arguments: { agent: 'dev', task: `Draw page ${(asked += 1)}`, output_key: `page-${asked}` },
  }),
};

const bmad = (args: Record<string, unknown>) => ({ name: 'bmad', arguments: args });

/** Mostly what reads, as models call. */
const ROUND: readonly Asked[] = [
  'list',
  'search',
  'execute',
  'search',
  'execute',
  'list',
  'search',
  'remember',
  'execute',
  'spawn',
];

export async function measureLoad(ours: Contender, scratch: string): Promise<Load> {
  const [folder, home] = [join(scratch, 'load-project'), join(scratch, 'load-home')];
  await mkdir(home);
  await writeProject(folder, WORKFLOWS);
  const tokens = join(home, 'tokens.txt');
  await writeFile(tokens, `${Object.values(TOKENS).join('\n')}\n`);
  const args = [ours.args[0] ?? '', '--http', '--port', '0', '--http-token-file', tokens];
  const server = await startServer('ours', args, { cwd: folder, env: cleanEnvironment(home) });
  try {
    const client = async (who: keyof typeof TOKENS): Promise<(what: Asked) => Promise<number>> => {
      const caller = { authorization: `Bearer ${TOKENS[who]}` };
      const session = await openSession(server.url, caller);
      return (what) => called(server.url, session, caller, calls[what]());
    };
    const [polite, greedy] = [await client('polite'), await client('greedy')];
    for (const what of new Set(ROUND)) await polite(what);
    const beside: Beside[] = [];
    for (const what of ['search', 'execute', 'remember', 'spawn'] as const) {
      const aloneMs = await median(polite, what);
      const besideMs = await besideOther(
        () => greedy('execute'),
        () => median(polite, what),
      );
      beside.push({ what, aloneMs, besideMs });
    }
    const clients: Awaited<ReturnType<typeof client>>[] = [];
    for (let index = 0; index < CLIENTS; index++)
      clients.push(await client(index % 2 === 0 ? 'polite' : 'greedy'));
    const before = cpuMilliseconds(server.pid);
    const { taken, seconds } = await mixedCalls(clients);
    const after = cpuMilliseconds(server.pid);
    return {
      workflows: WORKFLOWS,
      beside: { lanes: LANES, calls: beside },
      mixed: {
        clients: CLIENTS,
        seconds,
        cpuMs: before === undefined || after === undefined ? undefined : after - before,
        calls: [...taken].map(([what, times]) => ({
          what,
          calls: times.length,
          p50Ms: percentile(times, 50),
          p95Ms: percentile(times, 95),
        })),
      },
    };
  } finally {
    await server.stop();
  }
}

/** How long a polite caller waits for an agent, alone and beside one who has searches under way at all times. */
export interface Fairness {
  workflows: number;
  greedy: number;
  aloneMs: number;
  besideMs: number;
}

const MANY_WORKFLOWS = 5_000;
const SEARCHES = 20;

/** In a large project, without tokens: two sessions are two callers. */
export async function measureFairness(ours: Contender, scratch: string): Promise<Fairness> {
  const [folder, home] = [join(scratch, 'shared-project'), join(scratch, 'shared-home')];
  await mkdir(home);
  await writeProject(folder, MANY_WORKFLOWS);
  const where = { cwd: folder, env: cleanEnvironment(home) };
  const server = await startServer('ours', [ours.args[0] ?? '', '--http', '--port', '0'], where);
  try {
    const [polite, greedy] = [await openSession(server.url), await openSession(server.url)];
    const execute = (what: Asked) => called(server.url, polite, {}, calls[what]());
    const search = () => called(server.url, greedy, {}, calls.search());
    await search();
    const aloneMs = await median(execute, 'execute');
    const besideMs = await besideOther(search, () => median(execute, 'execute'), SEARCHES);
    return { workflows: MANY_WORKFLOWS, greedy: SEARCHES, aloneMs, besideMs };
  } finally {
    await server.stop();
  }
}

async function median(client: (what: Asked) => Promise<number>, what: Asked): Promise<number> {
  const taken: number[] = [];
  for (let round = 0; round < CALLS; round++) taken.push(await client(what));
  return percentile(taken, 50);
}

async function besideOther<T>(
  other: () => Promise<unknown>,
  work: () => Promise<T>,
  many = LANES,
): Promise<T> {
  const over = new AbortController();
  const lanes = Array.from({ length: many }, async () => {
    while (!over.signal.aborted) await other();
  });
  try {
    return await work();
  } finally {
    over.abort();
    await Promise.all(lanes);
  }
}

async function mixedCalls(clients: readonly ((what: Asked) => Promise<number>)[]) {
  const taken = new Map<Asked, number[]>(ROUND.map((what) => [what, []]));
  const began = performance.now();
  await Promise.all(
    clients.map(async (client, index) => {
      for (let round = index; performance.now() - began < MIXED_MS; round++) {
        const what = ROUND[round % ROUND.length] as Asked;
        taken.get(what)?.push(await client(what));
      }
    }),
  );
  return { taken, seconds: (performance.now() - began) / 1_000 };
}

async function called(
  url: string,
  session: string,
  caller: Record<string, string>,
  params: Record<string, unknown>,
): Promise<number> {
  const { method, headers, body } = sessionShot(session, 'tools/call', params);
  const before = performance.now();
  const signal = AbortSignal.timeout(ANSWER_MS);
  const response = await fetch(url, { method, headers: { ...headers, ...caller }, body, signal });
  const text = await response.text();
  if (!text.includes('"result"') || text.includes('"isError":true'))
    throw new Error(`The server answered ${response.status}: ${text.slice(0, 300)}`);
  return performance.now() - before;
}
