import { ERROR_CODES, type ErrorCode } from '../../base/errors.ts';
import { type HttpRoute, refuseAsProblem } from '../../base/http/http-route.ts';
import { VERSION } from '../../base/product.ts';
import { listedCounts } from '../../operations/catalogue/list-items.ts';
import type { Context, Observed } from '../../operations/context.ts';
import { type Refusal, REFUSALS } from './refusals.ts';

/** How long to wait for the stores to respond. */
const STORE_MS = 2_000;
/** Balancers ask often; within this time they get the last answer about the stores. */
const STORE_KEPT_MS = 5_000;

const UNREACHED = 'The database of the state cannot be used.';

/**
 * Whether the process is alive, and whether it is ready for work. Anyone may ask, so the answers are the same for every
 * project.
 */
export function createHealthRoutes(context: Context, flaw?: () => Promise<string | undefined>): HttpRoute[] {
  let content: 'is being read' | 'is read' | 'cannot be read' = 'is being read';
  let ending = false;
  let stores: { at: number; answer: Promise<boolean> } | undefined;

  /** Tried again at each question until it has worked once. */
  let reading: Promise<void> | undefined;
  function readContent(): void {
    reading ??= context.workspace().then(
      () => void (content = 'is read'),
      () => {
        content = 'cannot be read';
        reading = undefined;
      },
    );
  }
  readContent();

  function storesAnswer(): Promise<boolean> {
    if (stores === undefined || performance.now() - stores.at > STORE_KEPT_MS) {
      const late = new Promise<boolean>((resolve) => void setTimeout(resolve, STORE_MS, false).unref());
      stores = { at: performance.now(), answer: Promise.race([context.memoriesAnswer(), late]) };
    }
    return stores.answer;
  }

  async function reasons(): Promise<string[]> {
    if (content !== 'is read') readContent();
    return [
      ...(ending ? ['The server is shutting down.'] : []),
      ...(content === 'is read' ? [] : [`The content ${content}.`]),
      ...((await storesAnswer()) ? [] : ['The memory store cannot be used; the server’s log says why.']),
    ];
  }

  const route = (path: string, handle: () => Promise<Response>): HttpRoute => ({
    path,
    methods: ['GET', 'HEAD'],
    open: true,
    whileEnding: true,
    refuse: refuseAsProblem,
    handle,
  });
  return [
    route('/healthz', async () => statusResponse(200, { status: 'ok' })),
    {
      ...route('/readyz', async () => {
        const why = await reasons();
        if (why.length > 0) return statusResponse(503, { status: 'not ready', reasons: why });
        const unreached = context.stateTrouble() === undefined ? undefined : UNREACHED;
        const but = (await flaw?.()) ?? unreached;
        if (but === undefined) return statusResponse(200, { status: 'ready' });
        return statusResponse(200, { status: 'degraded', reasons: [but] });
      }),
      ending() {
        ending = true;
      },
    },
  ];
}

function statusResponse(status: number, body: object): Response {
  return Response.json(body, { status, headers: { 'cache-control': 'no-store' } });
}

/** Upper bounds in seconds: most calls take a few milliseconds, contracts and git minutes. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Tools of agents are named by the content; beyond this many names the rest is counted together. */
const NAMES_KEPT = 300;
const REST = '(others)';

/** What the text says that is not counted call by call. */
interface Figures {
  /** Records of the catalogue by kind; nothing before it has been read. */
  catalogue(): Promise<Readonly<Record<string, number>> | undefined>;
  /** Open sessions of 2025 protocol clients. */
  sessions(): number;
  /** Tasks of the server's project from which something follows, and how old the oldest is; nothing where they cannot be read. */
  tasks?(): Promise<{ open: number; oldestSeconds: number } | undefined>;
  /** Changes that wait in the line. */
  waiting?(): number;
}

export interface Metrics {
  observe(seen: Pick<Observed, 'operation' | 'ms' | 'code' | 'by'>): void;
  /** A request that was not admitted. */
  refused(reason: Refusal): void;
  route(figures: Figures): HttpRoute;
}

interface Counted {
  count: number;
  seconds: number;
  /** How many calls fell into each bucket, not added up. */
  buckets: number[];
  errors: Map<ErrorCode, number>;
  /** By how they ended and who had called. */
  callers: Map<string, number>;
}

/** Counts the calls of this process and tells them in the text format of Prometheus. */
export function createMetrics(): Metrics {
  const counted = new Map<string, Counted>();
  const refusals = new Map<Refusal, number>();
  const startedAt = Date.now() / 1_000;

  function of(operation: string): Counted {
    const name = counted.has(operation) || counted.size < NAMES_KEPT ? operation : REST;
    const known = counted.get(name) ?? {
      count: 0,
      seconds: 0,
      buckets: BUCKETS.map(() => 0),
      errors: new Map(),
      callers: new Map(),
    };
    counted.set(name, known);
    return known;
  }

  return {
    observe({ operation, ms, code, by }) {
      const one = of(operation);
      one.count += 1;
      one.seconds += ms / 1_000;
      const bucket = BUCKETS.findIndex((bound) => ms / 1_000 <= bound);
      if (bucket !== -1) one.buckets[bucket] = (one.buckets[bucket] ?? 0) + 1;
      const how = `${code ?? 'ok'} ${by.kind}`;
      one.callers.set(how, (one.callers.get(how) ?? 0) + 1);
      if (code !== undefined) one.errors.set(code, (one.errors.get(code) ?? 0) + 1);
    },
    refused: (reason) => void refusals.set(reason, (refusals.get(reason) ?? 0) + 1),
    route: (figures) => ({
      path: '/metrics',
      methods: ['GET', 'HEAD'],
      refuse: refuseAsProblem,
      async handle() {
        const calls = [...counted].sort(([a], [b]) => (a < b ? -1 : 1));
        const text = [
          ...callLines(calls),
          ...head('bmad_refusals_total', 'counter', 'Requests that were not admitted, by reason.'),
          ...REFUSALS.map((reason) => line('bmad_refusals_total', { reason }, refusals.get(reason) ?? 0)),
          ...(await stateLines(figures, startedAt)),
          '',
        ].join('\n');
        return new Response(text, {
          headers: {
            'content-type': 'text/plain; version=0.0.4; charset=utf-8',
            'cache-control': 'no-store',
          },
        });
      },
    }),
  };
}

/** How many records of each kind are served for the project of the server; nothing where it cannot be read. */
export async function catalogueFigures(context: Context): Promise<Record<string, number> | undefined> {
  const workspace = await context.workspace().catch(() => undefined);
  return workspace === undefined ? undefined : listedCounts(workspace);
}

function callLines(calls: readonly [string, Counted][]): string[] {
  const codes = Object.keys(ERROR_CODES) as ErrorCode[];
  return [
    ...head('bmad_calls_total', 'counter', 'Finished calls of operations.'),
    ...calls.map(([operation, { count }]) => line('bmad_calls_total', { operation }, count)),
    ...head('bmad_call_errors_total', 'counter', 'Failed calls, by error code.'),
    ...calls.flatMap(([operation, { errors }]) =>
      codes
        .filter((code) => errors.has(code))
        .map((code) => line('bmad_call_errors_total', { operation, code }, errors.get(code) ?? 0)),
    ),
    ...head('bmad_caller_calls_total', 'counter', 'Finished calls, by how they ended and who had called.'),
    ...calls.flatMap(([operation, { callers }]) =>
      [...callers].map(([how, count]) => {
        const [status = '', caller = ''] = how.split(' ');
        return line('bmad_caller_calls_total', { operation, status, caller }, count);
      }),
    ),
    ...head('bmad_call_duration_seconds', 'histogram', 'How long calls took.'),
    ...calls.flatMap(([operation, { count, seconds, buckets }]) => {
      let sum = 0;
      return [
        ...BUCKETS.map((bound, index) => {
          sum += buckets[index] ?? 0;
          return line('bmad_call_duration_seconds_bucket', { operation, le: String(bound) }, sum);
        }),
        line('bmad_call_duration_seconds_bucket', { operation, le: '+Inf' }, count),
        line('bmad_call_duration_seconds_sum', { operation }, seconds),
        line('bmad_call_duration_seconds_count', { operation }, count),
      ];
    }),
  ];
}

async function stateLines(
  { catalogue, sessions, tasks, waiting }: Figures,
  startedAt: number,
): Promise<string[]> {
  const records = Object.entries((await catalogue()) ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  const { user, system } = process.cpuUsage();
  const queue = await tasks?.();
  return [
    ...head('bmad_catalogue_records', 'gauge', 'Content served for the server’s project, by kind.'),
    ...records.map(([kind, count]) => line('bmad_catalogue_records', { kind }, count)),
    ...head('bmad_sessions', 'gauge', 'Open sessions of 2025 protocol clients.'),
    line('bmad_sessions', {}, sessions()),
    ...(queue === undefined
      ? []
      : [
          ...head('bmad_tasks_open', 'gauge', 'Tasks of the server’s project that have not ended.'),
          line('bmad_tasks_open', {}, queue.open),
          ...head('bmad_task_oldest_seconds', 'gauge', 'Age of the oldest of them; 0 if there is none.'),
          line('bmad_task_oldest_seconds', {}, queue.oldestSeconds),
        ]),
    ...head('bmad_changes_waiting', 'gauge', 'Changes that wait in the line.'),
    line('bmad_changes_waiting', {}, waiting?.() ?? 0),
    ...head('bmad_build_info', 'gauge', 'Always 1; the labels describe the build.'),
    line('bmad_build_info', { version: VERSION, node: process.version }, 1),
    ...head('process_start_time_seconds', 'gauge', 'When the server was started.'),
    line('process_start_time_seconds', {}, startedAt),
    ...head('process_cpu_seconds_total', 'counter', 'Processor time used.'),
    line('process_cpu_seconds_total', {}, (user + system) / 1e6),
    ...head('process_resident_memory_bytes', 'gauge', 'Memory in use.'),
    line('process_resident_memory_bytes', {}, process.memoryUsage.rss()),
  ];
}

function head(name: string, type: 'counter' | 'gauge' | 'histogram', help: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}

function line(name: string, labels: Readonly<Record<string, string>>, value: number): string {
  const pairs = Object.entries(labels).map(([key, text]) => `${key}="${escaped(text)}"`);
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}`;
}

function escaped(text: string): string {
  return text
    .replaceAll('\\', String.raw`\\`)
    .replaceAll('\n', String.raw`\n`)
    .replaceAll('"', String.raw`\"`);
}
