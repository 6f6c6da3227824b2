import { LIMITS } from '../reference/limits.ts';
import type { CodeGrowth } from './code.ts';
import type { Cost, Growth } from './growth.ts';
import type { Fairness, Load } from './load.ts';
import { ambiguousSaved, percentSaved, type Journeys } from './journeys.ts';
import type { OperationName } from './contenders.ts';
import type { Starts, WarmServers } from './measure.ts';
import type { StateGrowth } from './state.ts';
import { ratio, tokens } from './figures.ts';

/** What was measured. What could not be measured is not there. */
export interface Results {
  starts: Starts;
  warm: WarmServers;
  /** The same in short on a newer Node. */
  newer: { node: string; starts: Starts; warm: WarmServers } | undefined;
  context: Journeys | undefined;
  growth: Growth[];
  state: StateGrowth[];
  code: CodeGrowth | undefined;
  fairness: Fairness | undefined;
  load: Load | undefined;
}

export interface Budget {
  title: string;
  limit: number;
  /** Nothing if it could not be measured: no peer, or a system that does not tell. */
  measured: number | undefined;
  unit: string;
  verdict: 'pass' | 'fail' | 'not measured';
}

const TOOLS_LIST_TOKENS = LIMITS.tokens.default;
const START_AGAINST_PEER = 0.4;
const START_AGAINST_BARE = 0.9;
const RSS_AGAINST_BARE = 1.1;
const RSS_BELOW_PEER_MIB = 5;
/** Some hosts make no commands of a list that comes much later than it could (N-03, N-04). */
const PROMPTS_AGAINST_FLOOR = 1.5;
const FIRST_AGAINST_WARM = 10;
const WARM_AGAINST_BARE = 1.8;
const BESIDE_OTHERS = 3;
const BESIDE_DOCTOR_MS = 100;
const CONTEXT_SAVED_PERCENT = 80;
const AMBIGUOUS_SAVED_PERCENT = 52.3;
const CALLS_TO_BEGIN = 1;
const GROWTH = 13;

/** What we hold ourselves to. Times count only as ratios within one run: machines differ. */
export function budgetsOf(results: Results): Budget[] {
  const { starts, warm, context, growth, state, code, fairness, load } = results;
  const { ours, peer, bare, floor } = starts;
  return [
    atMost('tools/list', TOOLS_LIST_TOKENS, 'tokens', ours && tokens(ours.toolsListBytes)),
    atMost('spawn → tools/list', START_AGAINST_PEER, '× peer', ratio(ours?.wallMs, peer?.wallMs)),
    atMost('spawn → tools/list', START_AGAINST_BARE, '× bare', ratio(ours?.wallMs, bare?.wallMs)),
    atMost(
      'spawn → prompts/list',
      PROMPTS_AGAINST_FLOOR,
      '× floor',
      ratio(ours?.promptsMs, floor?.promptsMs),
    ),
    atMost(
      'RSS after tools/list, less the peer’s',
      -RSS_BELOW_PEER_MIB,
      'MiB',
      difference(ours?.rssMiB, peer?.rssMiB),
    ),
    atMost('RSS after tools/list', RSS_AGAINST_BARE, '× bare', ratio(ours?.rssMiB, bare?.rssMiB)),
    atMost(
      'first list agents, one second after the list',
      FIRST_AGAINST_WARM,
      '× warm',
      ratio(ours?.calmCallMs, p50(warm.ours, 'list agents')),
    ),
    atMost(
      'warm p50, list agents',
      1,
      '× peer',
      ratio(p50(warm.ours, 'list agents'), p50(warm.peer, 'list agents')),
    ),
    atMost(
      'warm p50, read an agent',
      1,
      '× peer',
      ratio(p50(warm.ours, 'read an agent'), p50(warm.peer, 'read an agent')),
    ),
    // What a call takes beyond the protocol's SDK, which alone takes about as long as a whole call of the peer.
    ...(['list agents', 'read an agent'] as const).map((operation) =>
      atMost(
        `warm p50, ${operation}`,
        WARM_AGAINST_BARE,
        '× bare',
        ratio(p50(warm.ours, operation), p50(warm.bare, 'echo')),
      ),
    ),
    // Our execute delivers the agent. The peer's only names it: a further call has to read it.
    atMost(
      'warm p50, activate an agent (peer: execute and read)',
      1,
      '× peer',
      ratio(
        p50(warm.ours, 'execute an agent'),
        sum(p50(warm.peer, 'execute an agent'), p50(warm.peer, 'read an agent')),
      ),
    ),
    atMost(
      'tools/list of the largest project against the smallest',
      1,
      '×',
      ratio(growth.at(-1)?.toolsListTokens, growth[0]?.toolsListTokens),
    ),
    // Ten times the workflows may cost ten times the time, and a little for what is not linear.
    atMost(
      'first list of 5,000 workflows against 500',
      GROWTH,
      '×',
      ratio(sized(growth, 5_000)?.firstList.ms, sized(growth, 500)?.firstList.ms),
    ),
    ...(['firstSearch', 'doctor'] as const).map((which) =>
      atMost(
        `${which === 'doctor' ? 'doctor' : 'first search'} of 5,000 workflows against 500`,
        GROWTH,
        '×',
        ratio(sized(growth, 5_000)?.[which].ms, sized(growth, 500)?.[which].ms),
      ),
    ),
    ...growthBudgets(sized(growth, 5_000)),
    ...sizeBudgets(sized(growth, 5_000), sized(growth, 20_000)),
    ...stateBudgets(state),
    ...everythingBudgets(state),
    ...codeBudgets(code),
    atMost(
      'execute beside 20 searches of another',
      BESIDE_OTHERS,
      '× alone',
      ratio(fairness?.besideMs, fairness?.aloneMs),
    ),
    ...loadBudgets(load),
    ...(context === undefined ? [] : contextBudgets(context)),
  ];
}

const SEARCH_MIXED_MS = 1_000;

function loadBudgets(load: Load | undefined): Budget[] {
  if (load === undefined) return [];
  const { beside, mixed } = load;
  const search = mixed.calls.find(({ what }) => what === 'search');
  return [
    ...beside.calls.map(({ what, aloneMs, besideMs }) =>
      atMost(
        `${what} beside ${beside.lanes} calls of another`,
        BESIDE_OTHERS,
        '× alone',
        ratio(besideMs, aloneMs),
      ),
    ),
    atMost(`search p95, ${mixed.clients} clients mixed`, SEARCH_MIXED_MS, 'ms', search?.p95Ms),
  ];
}

function contextBudgets(context: Journeys): Budget[] {
  return [
    ...context.journeys.map((journey) =>
      atLeast(`context saved, ${journey.title}`, CONTEXT_SAVED_PERCENT, '%', percentSaved(journey, context)),
    ),
    ...context.journeys.flatMap(({ title, calls, bytes, peer: theirs }) =>
      theirs === undefined
        ? []
        : [
            atMost(`calls to ${title}`, CALLS_TO_BEGIN, 'calls', calls),
            atMost(`tokens to ${title}`, 1, '× peer', ratio(tokens(bytes), theirs.tokens)),
          ],
    ),
    atLeast('saved by an ambiguous answer', AMBIGUOUS_SAVED_PERCENT, '%', ambiguousSaved(context)),
  ];
}

const sized = (growth: readonly Growth[], size: number): Growth | undefined =>
  growth.find(({ workflows }) => workflows === size);

/** Absolute, and therefore only a guide on machines other than the one they were set on. */
function growthBudgets(at: Growth | undefined): Budget[] {
  if (at === undefined) return [];
  const cpu = ({ cpuMs }: Cost): number | undefined => cpuMs;
  return [
    atMost('first list, 5,000 workflows', 1_800, 'ms CPU', cpu(at.firstList)),
    atMost('first list, 5,000 workflows, cached', 450, 'ms CPU', cpu(at.listAgain)),
    atMost('first search, 5,000 workflows', 3_500, 'ms CPU', cpu(at.firstSearch)),
    atMost('first search, 5,000 workflows, cached', 650, 'ms CPU', cpu(at.searchAgain)),
    atMost('warm search, 5,000 workflows', 30, 'ms', at.warmSearchMs),
    atMost('doctor, 5,000 workflows', 2_000, 'ms', at.doctor.ms),
    atMost('longest wait of a call beside it', BESIDE_DOCTOR_MS, 'ms', at.besideDoctorMs),
  ];
}

/** What an edit, a memory and a call without a watch may cost, however much there is. */
function sizeBudgets(at: Growth | undefined, most: Growth | undefined): Budget[] {
  if (at === undefined) return [];
  const limits = [
    [at, 60, 60],
    [most, 150, 200],
  ] as const;
  return [
    atMost('list after remember, 5,000 workflows', 2, '× warm', ratio(at.rememberedCpuMs, at.warmListCpuMs)),
    ...limits.flatMap(([one, edited, unwatched]) => {
      if (one === undefined) return [];
      const count = `${one.workflows.toLocaleString('en')} workflows`;
      return [
        atMost(`list after one edited file, ${count}`, edited, 'ms CPU', one.edited.cpuMs),
        atMost(`warm list without a watch, ${count}`, unwatched, 'ms CPU', one.unwatchedCpuMs),
      ];
    }),
    ...(most === undefined
      ? []
      : [
          atMost(
            'warm list, 20,000 workflows against 5,000',
            3,
            '×',
            ratio(most.warmListCpuMs, at.warmListCpuMs),
          ),
          atMost(
            'page of resources, 20,000 workflows against 5,000',
            3,
            '×',
            ratio(most.pageCpuMs, at.pageCpuMs),
          ),
          atMost(
            'first search on a machine with 8 GB, 20,000 workflows',
            1.2,
            '× otherwise',
            ratio(most.smallSearch.cpuMs, most.firstSearch.cpuMs),
          ),
        ]),
  ];
}

const STATE_LIMITS: readonly (readonly [
  operation: string,
  count: number,
  field: keyof typeof FIELDS,
  limit: number,
])[] = [
  ['run_open', 10_000, 'p50Ms', 50],
  ['status of one', 10_000, 'p50Ms', 20],
  ['task claim', 10_000, 'p50Ms', 50],
  ['recall', 100_000, 'p95Ms', 60],
  ['recall', 100_000, 'restedMs', 500],
  ['remember', 100_000, 'p50Ms', 30],
];

const EVERYTHING_CPU_MS = { restedCpuMs: 600, cpuMs: 60 } as const;

const FIELDS = { restedMs: 'first of a server at rest', p50Ms: 'p50', p95Ms: 'p95' } as const;

/** What is asked of a project with much of everything, of which most is over. */
function everythingBudgets(state: readonly StateGrowth[]): Budget[] {
  return state
    .filter(({ what }) => what === 'everything')
    .flatMap(({ operation, count, restedCpuMs, cpuMs }) => {
      const title = `${operation}, ${count.toLocaleString('en')} of everything`;
      return [
        atMost(`${title}, first`, EVERYTHING_CPU_MS.restedCpuMs, 'ms CPU', restedCpuMs),
        atMost(`${title}, warm`, EVERYTHING_CPU_MS.cpuMs, 'ms CPU', cpuMs),
      ];
    });
}

function stateBudgets(state: readonly StateGrowth[]): Budget[] {
  return STATE_LIMITS.flatMap(([operation, count, field, limit]) => {
    const found = state.find((one) => one.operation === operation && one.count === count);
    return found === undefined
      ? []
      : [
          atMost(
            `${operation}, ${count.toLocaleString('en')} ${found.what}, ${FIELDS[field]}`,
            limit,
            'ms',
            found[field],
          ),
        ];
  });
}

function codeBudgets(code: CodeGrowth | undefined): Budget[] {
  if (code === undefined) return [];
  const files = `${code.files.toLocaleString('en')} files of code`;
  return [
    atMost(`first answer, ${files}`, 2_000, 'ms', code.firstMs),
    atMost(`warm query, ${files}`, 150, 'ms CPU', code.warmCpuMs),
    atMost(`RSS, ${files}`, 300, 'MB', code.rssMiB && code.rssMiB * 1.048576),
  ];
}

function p50(server: WarmServers['ours'], operation: OperationName): number | undefined {
  return server?.operations[operation]?.p50Ms;
}

function sum(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? undefined : one + other;
}

function difference(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? undefined : one - other;
}

function atMost(title: string, limit: number, unit: string, measured: number | undefined): Budget {
  const verdict = measured === undefined ? 'not measured' : measured <= limit ? 'pass' : 'fail';
  return { title: `${title}, at most`, limit, unit, measured, verdict };
}

function atLeast(title: string, limit: number, unit: string, measured: number): Budget {
  return { title: `${title}, at least`, limit, unit, measured, verdict: measured >= limit ? 'pass' : 'fail' };
}
