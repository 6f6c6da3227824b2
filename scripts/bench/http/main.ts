import { rmSync } from 'node:fs';
import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { bundle } from '../../bundle.ts';
import { cleanEnvironment } from '../contenders.ts';
import { median, shuffled } from '../figures.ts';
import { modernShot, openSession, sessionShot, type Shot, startServer, type HttpServer } from './client.ts';
import { createRequire } from 'node:module';
import { installedPackage } from '../npm-package.ts';
import { residentMebibytes } from '../system.ts';

const HELP = `Load on the built server over HTTP, beside a bare server on the same SDK.

Usage: npm run bench:http -- [flags]

  --rounds N   Rounds of each kind of request (default 5); the servers take turns
  --seconds N  Length of a round (default 3)
  --soak N     Then N seconds of mixed load on our server, with its memory (default 0; 180 for a release)
  --help       Print this text

It needs the built server (npm run build) and fetches the load generator with npm once. The report goes to stdout.
`;

const root = fileURLToPath(new URL('../../..', import.meta.url));
const say = (line: string): void => void process.stderr.write(`bench: ${line}\n`);

interface Kind {
  title: string;
  connections: number;
  shot(server: HttpServer): Promise<Shot>;
}

const ours = (server: HttpServer): boolean => server.name === 'ours';
const call = (server: HttpServer): Record<string, unknown> =>
  ours(server)
    ? { name: 'bmad', arguments: { operation: 'read', agent: 'architect' } }
    : { name: 'echo', arguments: { text: 'x'.repeat(4_000) } };

const KINDS: Kind[] = [
  { title: '2026: server/discover', connections: 20, shot: async () => modernShot('server/discover') },
  { title: '2026: tools/list', connections: 20, shot: async () => modernShot('tools/list') },
  {
    title: '2026: tools/call',
    connections: 20,
    shot: async (server) => modernShot('tools/call', call(server)),
  },
  {
    title: '2026: tools/call, 200 clients',
    connections: 200,
    shot: async (server) => modernShot('tools/call', call(server)),
  },
  {
    title: '2025: tools/call in a session',
    connections: 20,
    shot: async (server) => sessionShot(await openSession(server.url), 'tools/call', call(server)),
  },
];

async function measured(
  servers: readonly HttpServer[],
  fire: Fire,
  rounds: number,
  seconds: number,
): Promise<string[]> {
  const lines = [
    '| request | ours rps | bare rps | ratio | ours p50 ms | ours p99 | bare p99 | ratio | wrong |',
    '| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |',
  ];
  for (const { title, connections, shot } of KINDS) {
    const loads = new Map<string, Load[]>(servers.map(({ name }) => [name, []]));
    for (let round = 0; round < rounds; round += 1) {
      for (const server of shuffled(servers)) {
        const volley = { url: server.url, shot: await shot(server), expected: '"result"' };
        loads.get(server.name)?.push(await fire({ ...volley, connections, seconds }));
      }
    }
    say(title);
    const of = (name: string, field: keyof Load): number =>
      median((loads.get(name) ?? []).map((load) => load[field])) ?? Number.NaN;
    const wrong = [...loads.values()].flat().reduce((sum, load) => sum + load.wrong, 0);
    const cells = [
      of('ours', 'rps').toFixed(0),
      of('bare', 'rps').toFixed(0),
      `${(of('ours', 'rps') / of('bare', 'rps')).toFixed(2)} ×`,
      of('ours', 'p50').toFixed(0),
      of('ours', 'p99').toFixed(0),
      of('bare', 'p99').toFixed(0),
      `${(of('ours', 'p99') / of('bare', 'p99')).toFixed(2)} ×`,
      String(wrong),
    ];
    lines.push(`| ${title} | ${cells.join(' | ')} |`);
  }
  return lines;
}

function soakReport({ seconds, requests, wrong, rss, growthMiB }: Soak): string[] {
  const every = Math.max(1, Math.floor(rss.length / 12));
  const curve = rss.filter((_one, index) => index % every === 0).map((value) => value.toFixed(0));
  return [
    '',
    `Soak: ${seconds} s, ${requests} requests, ${wrong} wrong. RSS in MiB over time: ${curve.join(' ')}.`,
    `Last third against the middle one: ${growthMiB >= 0 ? '+' : ''}${growthMiB.toFixed(1)} MiB.`,
  ];
}

async function run(rounds: number, seconds: number, soakSeconds: number): Promise<void> {
  const scratch = await mkdtemp(join(tmpdir(), 'bmad-bench-'));
  process.once('exit', () => rmSync(scratch, { recursive: true, force: true }));
  const cache = join(root, '.cache', 'bench');
  const [empty, home] = [join(scratch, 'empty'), join(scratch, 'home')];
  await Promise.all([mkdir(empty), mkdir(home)]);
  const fire = await loadGenerator(cache);
  const entry = fileURLToPath(new URL('./bare-server.ts', import.meta.url));
  await bundle({ entries: { 'bare-http': entry }, folder: cache });
  const where = { cwd: empty, env: cleanEnvironment(home) };
  const program = join(root, 'dist', 'bmad-mcp-server.cjs');
  const own = await startServer('ours', [program, '--http', '--port', '0'], where);
  const bare = await startServer('bare', [join(cache, 'bare-http.cjs')], where);
  try {
    const table = await measured([own, bare], fire, rounds, seconds);
    const after = soakSeconds === 0 ? [] : soakReport(await soak(own, fire, soakSeconds));
    process.stdout.write(`${['# Load over HTTP', '', ...table, ...after].join('\n')}\n`);
  } finally {
    await Promise.all([own.stop(), bare.stop()]);
  }
}

const VERSION = '8.0.0';

interface Volley {
  url: string;
  shot: Shot;
  /** A text every right answer holds. */
  expected: string;
  connections: number;
  seconds: number;
}

/** What came of it: requests a second, latency in milliseconds, and what went wrong. */
interface Load {
  rps: number;
  p50: number;
  p99: number;
  wrong: number;
}

type Fire = (volley: Volley) => Promise<Load>;

interface Result {
  requests: { average: number };
  latency: { p50: number; p99: number };
  errors: number;
  timeouts: number;
  non2xx: number;
  mismatches: number;
}

type Autocannon = (options: Record<string, unknown>) => Promise<Result>;

/** The load generator, which only this benchmark needs and which is therefore no dependency of the project. */
async function loadGenerator(cache: string): Promise<Fire> {
  const found = await installedPackage(join(cache, 'autocannon'), 'autocannon', VERSION, say);
  if (found === undefined) throw new Error('There is no load without autocannon.');
  const autocannon = createRequire(import.meta.url)(found.home) as Autocannon;
  return async ({ url, shot, expected, connections, seconds }) => {
    const result = await autocannon({
      url,
      connections,
      duration: seconds,
      ...shot,
      verifyBody: (body: string) => body.includes(expected),
    });
    return {
      rps: result.requests.average,
      p50: result.latency.p50,
      p99: result.latency.p99,
      wrong: result.errors + result.timeouts + result.non2xx + result.mismatches,
    };
  };
}

const ROUND_SECONDS = 5;
const CONNECTIONS = 20;
/** Clients that open a session in each round and never come back. */
const LEFT_SESSIONS = 30;

interface Soak {
  seconds: number;
  requests: number;
  wrong: number;
  /** Resident memory in MiB after each round. */
  rss: number[];
  /** The median of the last third less that of the middle third: what a leak would make grow. */
  growthMiB: number;
}

/** Both eras in turns, and sessions that are opened and left, for as long as asked. */
async function soak(server: HttpServer, fire: Fire, seconds: number): Promise<Soak> {
  const rss: number[] = [];
  let requests = 0;
  let wrong = 0;
  const session = await openSession(server.url);
  const list = { name: 'bmad', arguments: { operation: 'list', query: 'agents' } };
  const execute = { name: 'bmad', arguments: { operation: 'execute', agent: 'architect' } };
  const shots = [
    modernShot('tools/call', list),
    modernShot('tools/list'),
    modernShot('tools/call', execute),
    sessionShot(session, 'tools/call', list),
  ];
  for (let round = 0; round * ROUND_SECONDS < seconds; round += 1) {
    const shot = shots[round % shots.length];
    if (shot === undefined) throw new Error('There is nothing to fire.');
    for (let left = 0; left < LEFT_SESSIONS; left += 1) await openSession(server.url);
    const load = await fire({
      url: server.url,
      shot,
      expected: '"result"',
      connections: CONNECTIONS,
      seconds: ROUND_SECONDS,
    });
    requests += Math.round(load.rps * ROUND_SECONDS);
    wrong += load.wrong;
    rss.push(residentMebibytes(server.pid) ?? Number.NaN);
  }
  const third = Math.floor(rss.length / 3);
  const growthMiB = (median(rss.slice(-third)) ?? 0) - (median(rss.slice(third, 2 * third)) ?? 0);
  return { seconds: rss.length * ROUND_SECONDS, requests, wrong, rss, growthMiB };
}

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    soak: { type: 'string', default: '0' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) process.stdout.write(HELP);
else await run(Number(values.rounds), Number(values.seconds), Number(values.soak));
