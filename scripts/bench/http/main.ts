import { rmSync } from 'node:fs';
import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { bundle } from '../../bundle.ts';
import { cleanEnvironment } from '../contenders.ts';
import { median, shuffled } from '../statistics.ts';
import { loadGenerator, type Fire, type Load } from './autocannon.ts';
import { modernShot, openSession, sessionShot, type Shot } from './requests.ts';
import { startServer, type HttpServer } from './server.ts';
import { soak, type Soak } from './soak.ts';

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
  const fire = await loadGenerator(cache, say);
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
