import { ratio, type Budget, type Results } from './budgets.ts';
import type { Fairness } from './fairness.ts';
import type { Cost, Growth } from './growth.ts';
import type { StateGrowth } from './state.ts';
import { ambiguousSaved, percentSaved, type Journeys } from './journeys.ts';
import { OPERATIONS } from './contenders.ts';
import type { Start, Starts, WarmServers } from './measure.ts';
import { tokens } from './statistics.ts';

const NOTHING = '–';

/** Everything a person wants to know of a run, as Markdown that is readable in a terminal too. */
export function reportOf(about: readonly string[], results: Results, budgets: readonly Budget[]): string {
  return [
    '# Benchmark',
    about.map((line) => `- ${line}`).join('\n'),
    '## Start',
    startTable(results.starts),
    '## Warm calls',
    warmTable(results.warm),
    '## Journeys: what a model has to read (our server)',
    journeyTable(results.context),
    '## Size of the project (our server)',
    growthTable(results.growth),
    '## Much state (our server)',
    stateTable(results.state),
    '## One caller beside another (our server)',
    fairnessLine(results.fairness),
    '## Budgets',
    budgetTable(budgets),
    verdict(budgets),
    '',
  ].join('\n\n');
}

function startTable({ ours, peer, bare, floor }: Starts): string {
  const lines: [string, (start: Start) => number | undefined][] = [
    ['spawn → tools/list, p50 ms', ({ wallMs }) => wallMs],
    ['CPU until then, mean ms', ({ cpuMs }) => cpuMs],
    ['RSS after tools/list, p50 MiB', ({ rssMiB }) => rssMiB],
    ['tools/list, bytes', ({ toolsListBytes }) => toolsListBytes],
    ['tools/list, tokens', ({ toolsListBytes }) => tokens(toolsListBytes)],
    ['first call (list agents) at once, p50 ms', ({ firstCallMs }) => firstCallMs],
    ['first call a second later, p50 ms', ({ calmCallMs }) => calmCallMs],
  ];
  return table(
    ['', 'ours', 'peer', 'bare', 'floor', 'ours / peer', 'ours / bare'],
    lines.map(([title, of]) => {
      const [our, their, least, node] = [ours, peer, bare, floor].map((start) => start && of(start));
      return [
        title,
        shown(our),
        shown(their),
        shown(least),
        shown(node),
        times(our, their),
        times(our, least),
      ];
    }),
  );
}

function warmTable({ ours, peer }: WarmServers): string {
  const rows = OPERATIONS.map((operation) => {
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
  ];
  return `${table(head, rows)}\n\n${notes.join('\n')}`;
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
      'doctor',
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
      cost(one.doctor),
      shown(one.rssMiB),
      shown(one.toolsListTokens),
    ]),
  );
}

function stateTable(state: readonly StateGrowth[]): string {
  return table(
    ['', 'count', 'first, ms', 'p50, ms', 'p95, ms'],
    state.map(({ what, count, operation, firstMs, p50Ms, p95Ms }) => [
      `${operation} (${what})`,
      String(count),
      shown(firstMs),
      shown(p50Ms),
      shown(p95Ms),
    ]),
  );
}

function fairnessLine(fairness: Fairness | undefined): string {
  if (fairness === undefined) return 'Not measured.';
  const { workflows, greedy, aloneMs, besideMs } = fairness;
  return `An execute takes ${shown(aloneMs)} ms alone and ${shown(besideMs)} ms beside ${greedy} searches of another caller, in a project of ${workflows} workflows: ${times(besideMs, aloneMs)}.`;
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

/** As many digits as mean something: none for large numbers, two for small ones. */
function shown(value: number | undefined): string {
  if (value === undefined) return NOTHING;
  if (Number.isInteger(value)) return String(value);
  return value.toFixed(Math.abs(value) < 10 ? 2 : 1);
}

function times(one: number | undefined, other: number | undefined): string {
  const value = ratio(one, other);
  return value === undefined ? NOTHING : `${value.toFixed(2)} ×`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((cell, column) =>
    Math.max(3, cell.length, ...rows.map((cells) => (cells[column] ?? '').length)),
  );
  // The first column holds words, the others numbers.
  const padded = (cell: string, column: number): string =>
    column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
  const line = (cells: readonly string[]): string => `| ${cells.map(padded).join(' | ')} |`;
  const rule = widths.map((width, column) =>
    column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  );
  return [line(head), `| ${rule.join(' | ')} |`, ...rows.map(line)].join('\n');
}
