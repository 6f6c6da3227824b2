import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { cleanEnvironment, type Contender } from './contenders.ts';
import { openSession, sessionShot } from './http/requests.ts';
import { startServer, type HttpServer } from './http/server.ts';
import { writeProject } from './made-project.ts';
import { percentile } from './statistics.ts';

/** How long a polite caller waits, alone and beside one who asks for much at once. */
export interface Fairness {
  workflows: number;
  greedy: number;
  aloneMs: number;
  besideMs: number;
}

const WORKFLOWS = 5_000;
const GREEDY = 20;
const CALLS = 15;
const ANSWER_MS = 120_000;

const EXECUTE = { name: 'bmad', arguments: { operation: 'execute', agent: 'agent-0' } };
const SEARCH = { name: 'bmad', arguments: { operation: 'search', query: 'something with the harbour' } };

/** Over HTTP, where callers meet: one has twenty searches under way at all times, another executes an agent. */
export async function measureFairness(ours: Contender, scratch: string): Promise<Fairness> {
  const [folder, home] = [join(scratch, 'shared-project'), join(scratch, 'shared-home')];
  await mkdir(home);
  await writeProject(folder, WORKFLOWS);
  const where = { cwd: folder, env: cleanEnvironment(home) };
  const server = await startServer('ours', [ours.args[0] ?? '', '--http', '--port', '0'], where);
  try {
    const [polite, greedy] = [await openSession(server.url), await openSession(server.url)];
    await called(server, greedy, SEARCH);
    const aloneMs = percentile(await times(server, polite), 50);
    const over = new AbortController();
    const lanes = Array.from({ length: GREEDY }, async () => {
      while (!over.signal.aborted) await called(server, greedy, SEARCH);
    });
    const besideMs = percentile(await times(server, polite), 50);
    over.abort();
    await Promise.all(lanes);
    return { workflows: WORKFLOWS, greedy: GREEDY, aloneMs, besideMs };
  } finally {
    await server.stop();
  }
}

async function times(server: HttpServer, session: string): Promise<number[]> {
  const taken: number[] = [];
  for (let round = 0; round < CALLS; round++) taken.push(await called(server, session, EXECUTE));
  return taken;
}

async function called(server: HttpServer, session: string, params: Record<string, unknown>): Promise<number> {
  const { method, headers, body } = sessionShot(session, 'tools/call', params);
  const before = performance.now();
  const response = await fetch(server.url, { method, headers, body, signal: AbortSignal.timeout(ANSWER_MS) });
  const text = await response.text();
  if (!text.includes('"result"'))
    throw new Error(`The server answered ${response.status}: ${text.slice(0, 300)}`);
  return performance.now() - before;
}
