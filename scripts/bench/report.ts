import type { Budget, Results } from './budgets.ts';
import type { CodeGrowth } from './code.ts';
import type { Cost, Growth } from './growth.ts';
import type { Fairness, Load } from './load.ts';
import type { StateGrowth } from './state.ts';
import { ambiguousSaved, percentSaved, type Journeys } from './journeys.ts';
import { OPERATIONS, type ContenderId } from './contenders.ts';
import type { Start, Starts, WarmServer, WarmServers } from './measure.ts';
import { tokens, NOTHING, shown, table, times } from './figures.ts';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Everything a person wants to know of a run, as Markdown that is readable in a terminal too. */
function sectionsOf(results: Results, budgets: readonly Budget[]): Record<Section, string> {
  const { starts, warm, newer, context, growth, state, code, fairness, load } = results;
  return {
    Budgets: `${budgetTable(budgets)}\n\n${verdict(budgets)}`,
    Start: startTable(starts),
    'Warm calls': warmTable(warm),
    'On a newer Node': newer === undefined ? NOT_MEASURED : newerTable(newer),
    'Size of the project': growthTable(growth),
    'Much state': stateTable(state),
    'Much code': code === undefined ? NOT_MEASURED : codeLine(code),
    'One caller beside another': fairness === undefined ? NOT_MEASURED : fairnessLine(fairness),
    'Many callers': load === undefined ? NOT_MEASURED : loadTables(load),
    'What a model has to read': context === undefined ? NOT_MEASURED : journeyTable(context),
  };
}

const SECTIONS = [
  'Budgets',
  'Start',
  'Warm calls',
  'On a newer Node',
  'Size of the project',
  'Much state',
  'Much code',
  'One caller beside another',
  'Many callers',
  'What a model has to read',
] as const;
type Section = (typeof SECTIONS)[number];

const NOT_MEASURED = 'Not measured.';

type Line<T> = [title: string, of: (one: T) => number | undefined];
const CONTENDERS = ['ours', 'peer', 'bare', 'floor', 'ours / peer', 'ours / bare'];

function startTable(starts: Starts): string {
  const lines: Line<Start>[] = [
    ['spawn → tools/list, p50 ms', ({ wallMs }) => wallMs],
    ['CPU until then, mean ms', ({ cpuMs }) => cpuMs],
    ['spawn → prompts/list, p50 ms', ({ promptsMs }) => promptsMs],
    ['RSS after tools/list, p50 MiB', ({ rssMiB }) => rssMiB],
    ['tools/list, bytes', ({ toolsListBytes }) => toolsListBytes],
    ['tools/list, tokens', ({ toolsListBytes }) => tokens(toolsListBytes)],
    ['first call (list agents), p50 ms', ({ firstCallMs }) => firstCallMs],
    ['first call a second later, p50 ms', ({ calmCallMs }) => calmCallMs],
  ];
  return table(['', ...CONTENDERS], sideBySide(starts, lines));
}

/** A row for each line: the four servers, and ours against two of them. */
function sideBySide<T>(servers: Partial<Record<ContenderId, T>>, lines: readonly Line<T>[]): string[][] {
  const { ours, peer, bare, floor } = servers;
  return lines.map(([title, of]) => {
    const [our, their, least, node] = [ours, peer, bare, floor].map((one) =>
      one === undefined ? undefined : of(one),
    );
    const values = [our, their, least, node].map(shown);
    return [title, ...values, times(our, their), times(our, least)];
  });
}

/** The start, and the median of every warm call. */
function newerTable({ node, starts, warm }: NonNullable<Results['newer']>): string {
  const rows = [
    ...sideBySide(starts, [
      ['spawn → tools/list, p50 ms', ({ wallMs }) => wallMs],
      ['RSS after tools/list, p50 MiB', ({ rssMiB }) => rssMiB],
      ['first call a second later, p50 ms', ({ calmCallMs }) => calmCallMs],
    ]),
    ...sideBySide(
      warm,
      OPERATIONS.map((operation): Line<WarmServer> => [
        `${operation}, p50 ms`,
        ({ operations }) => operations[operation]?.p50Ms,
      ]),
    ),
  ];
  return table([node, ...CONTENDERS], rows);
}

function warmTable({ ours, peer, bare, floor }: WarmServers): string {
  const rows = OPERATIONS.filter((operation) => operation !== 'echo').map((operation) => {
    const our = ours?.operations[operation];
    const their = peer?.operations[operation];
    return [
      operation,
      shown(our?.p50Ms),
      shown(their?.p50Ms),
      times(our?.p50Ms, their?.p50Ms),
      shown(our?.p95Ms),
      shown(their?.p95Ms),
      times(our?.p95Ms, their?.p95Ms),
      shown(our?.answerBytes),
      shown(their?.answerBytes),
    ];
  });
  const head = [
    'ms',
    'ours p50',
    'peer p50',
    'ratio',
    'ours p95',
    'peer p95',
    'ratio',
    'ours bytes',
    'peer bytes',
  ];
  const notes = [
    `RSS after all calls: ours ${shown(ours?.rssMiB)} MiB, peer ${shown(peer?.rssMiB)} MiB.`,
    // Without this the comparison of the two would be read as one of like with like.
    'Our execute delivers the whole agent; the peer’s names it, and a further call has to read it.',
    `A tool that only says its text back takes ${spread(bare)} ms (p50, p95) on the bare server and ${spread(floor)} ms on the floor.`,
  ];
  return `${table(head, rows)}\n\n${notes.join('\n')}`;
}

function spread(server: WarmServer | undefined): string {
  const echo = server?.operations.echo;
  return `${shown(echo?.p50Ms)} and ${shown(echo?.p95Ms)}`;
}

function journeyTable(context: Journeys): string {
  const { journeys, everythingBytes, mainFiles, ambiguous, documentBytes } = context;
  const rows = journeys.map((journey) => [
    journey.title,
    shown(journey.calls),
    shown(tokens(journey.bytes)),
    `${percentSaved(journey, context).toFixed(1)} %`,
    shown(journey.peer?.calls),
    shown(journey.peer?.tokens),
  ]);
  const everything = [
    `everything loaded (${mainFiles} SKILL.md files)`,
    NOTHING,
    shown(tokens(everythingBytes)),
    NOTHING,
    NOTHING,
    NOTHING,
  ];
  const head = ['', 'calls', 'tokens', 'saved against everything', 'peer calls', 'peer tokens'];
  const saved = `An ambiguous name: ${tokens(ambiguous.bytes)} tokens against ${tokens(ambiguous.rawBytes)} of a raw list, ${ambiguousSaved(context).toFixed(1)} % less.`;
  const documents = `The documents of that project have ${tokens(documentBytes)} tokens in all.`;
  return `${table(head, [...rows, everything])}\n\n${documents}\n${saved}`;
}

function growthTable(growth: readonly Growth[]): string {
  const cost = ({ ms, cpuMs }: Cost): string => `${shown(Math.round(ms))} (${shown(cpuMs)})`;
  return table(
    [
      'workflows; ms (CPU)',
      'first list',
      'cached',
      'first search',
      'cached',
      'warm list',
      'warm search',
      'after an edit',
      'doctor',
      'beside doctor',
      'RSS, MiB',
      'tools/list, tokens',
    ],
    growth.map((one) => [
      String(one.workflows),
      cost(one.firstList),
      cost(one.listAgain),
      cost(one.firstSearch),
      cost(one.searchAgain),
      shown(one.warmListMs),
      shown(one.warmSearchMs),
      cost(one.edited),
      cost(one.doctor),
      shown(one.besideDoctorMs),
      shown(one.rssMiB),
      shown(one.toolsListTokens),
    ]),
  );
}

function stateTable(state: readonly StateGrowth[]): string {
  return table(
    ['', 'count', 'first, ms', 'at rest, ms', 'p50, ms', 'p95, ms', 'CPU at rest', 'CPU after', 'RSS, MiB'],
    state.map(({ what, count, operation, firstMs, restedMs, p50Ms, p95Ms, restedCpuMs, cpuMs, rssMiB }) => [
      `${operation} (${what})`,
      String(count),
      shown(firstMs),
      shown(restedMs),
      shown(p50Ms),
      shown(p95Ms),
      shown(Math.round(restedCpuMs)),
      shown(Math.round(cpuMs)),
      shown(rssMiB),
    ]),
  );
}

function codeLine(code: CodeGrowth): string {
  return table(
    [
      'files',
      'first answer, ms',
      'all read after, ms (CPU)',
      'warm p50',
      'p95, ms',
      'CPU of a warm query, ms',
      'RSS, MiB',
    ],
    [
      [
        String(code.files),
        shown(Math.round(code.firstMs)),
        `${code.indexedMs === undefined ? NOTHING : Math.round(code.indexedMs)} (${shown(code.indexedCpuMs)})`,
        shown(code.warmMs),
        shown(code.warmP95Ms),
        shown(code.warmCpuMs),
        shown(code.rssMiB),
      ],
    ],
  );
}

function fairnessLine({ workflows, greedy, aloneMs, besideMs }: Fairness): string {
  return `An execute takes ${shown(aloneMs)} ms alone and ${shown(besideMs)} ms beside ${greedy} searches of another caller, in a project of ${workflows} workflows: ${times(besideMs, aloneMs)}.`;
}

function loadTables({ workflows, beside, mixed }: Load): string {
  return [
    `In a project of ${workflows} workflows, beside ${beside.lanes} executes of another caller:`,
    table(
      ['', 'alone, ms', 'beside, ms', 'ratio'],
      beside.calls.map(({ what, aloneMs, besideMs }) => [
        what,
        shown(aloneMs),
        shown(besideMs),
        times(besideMs, aloneMs),
      ]),
    ),
    `${mixed.clients} clients that ask without a pause for ${Math.round(mixed.seconds)} s, ${shown(mixed.cpuMs)} ms of processor time:`,
    table(
      ['', 'calls', 'p50, ms', 'p95, ms'],
      mixed.calls.map(({ what, calls, p50Ms, p95Ms }) => [what, String(calls), shown(p50Ms), shown(p95Ms)]),
    ),
  ].join('\n\n');
}

function budgetTable(budgets: readonly Budget[]): string {
  return table(
    ['budget', 'limit', 'measured', 'unit', 'verdict'],
    budgets.map(({ title, limit, measured, unit, verdict: said }) => [
      title,
      String(limit),
      shown(measured),
      unit,
      said === 'fail' ? 'FAIL' : said,
    ]),
  );
}

function verdict(budgets: readonly Budget[]): string {
  const count = (wanted: Budget['verdict']): number => budgets.filter((one) => one.verdict === wanted).length;
  return `${count('pass')} passed, ${count('fail')} failed, ${count('not measured')} not measured.`;
}

/** What a reader has to know of each table. */
const EXPLAINED: Readonly<Record<Section, string>> = {
  Budgets:
    'What the server is held to. A ratio compares two things of the same run; limits in milliseconds were set for a machine like this one.',
  Start:
    'Every figure is of servers that had just been started. A first call pays for what a start puts off; one second after the list is when a model calls at the earliest.',
  'Warm calls':
    'One running server each, called in turns. The peer has no search, no next step and no memory.',
  'On a newer Node': 'The same with fewer rounds on a newer Node, which keeps memories in SQLite.',
  'Size of the project':
    'Made-up projects with an agent for every ten workflows. “Cached” is a second process, which finds what the first one has kept on disk; “warm” is once the server is at rest; “after an edit” the list after one file was changed; “beside doctor” the longest that another call waited while doctor was at work.',
  'Much state':
    'One project with that many memories, completed runs or queued tasks, or with so many runs, sessions, failures and receipts together. “First” is the first call of a server that has just listed its tools; “at rest” that of another one, which has loaded by then what first calls need, as while a model thinks; forty calls follow.',
  'Much code':
    'A made-up project; while its files are being read, searches are answered from those that have been.',
  'One caller beside another': 'Over HTTP, with two sessions.',
  'Many callers': 'Over HTTP; a caller is a token, and the clients share two of them.',
  'What a model has to read':
    'Tokens are bytes divided by four. The peer’s figures are of its recorded sessions.',
};

/** All sections in order, each with what it says. */
export function textOf(about: readonly string[], results: Results, budgets: readonly Budget[]): string {
  const sections = sectionsOf(results, budgets);
  const parts = SECTIONS.map((section) =>
    [`## ${section}`, EXPLAINED[section], sections[section]].join('\n\n'),
  );
  return `${[about.map((line) => `- ${line}`).join('\n'), ...parts].join('\n\n')}\n`;
}

/** The report as a page of the documentation. */
export async function writeDocument(
  folder: string,
  about: readonly string[],
  results: Results,
  budgets: readonly Budget[],
): Promise<void> {
  await writeFile(
    join(folder, 'benchmarks.md'),
    `# Benchmarks

<!-- Written by "npm run bench -- --write". Do not edit. -->

Times differ between machines. What holds on all of them are the ratios: in one run, everything was measured in
turns. The peer is the published server of the same purpose, the bare server the least that the protocol's SDK allows, and the
floor a server without any package.

${textOf(about, results, budgets)}`,
  );
}
