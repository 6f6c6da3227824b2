import { plural } from '../../base/text/message.ts';
import { BmadError, quoted } from '../../base/errors.ts';
import { fenced } from '../../base/text/text.ts';
import type { Run, RunBranch, RunsReading } from '../../model/run.ts';
import type { Context, StatePort } from '../context.ts';
import { standingText } from '../runs/branch-standing.ts';
import { lines } from '../answer-text.ts';
import { runText } from '../runs/run-text.ts';
import { byRecency, runData, runLine } from '../runs/run-view.ts';

/** `bmad://runs`, `bmad://runs/{branch}` and `bmad://runs/{branch}/{run_id}`. */
const RUNS_URI = /^bmad:\/\/runs(?:\/([^/?#]+))?(?:\/([^/?#]+))?\/?$/i;

export interface RunsStorage {
  branch: string | undefined;
  id: string | undefined;
}

export function runsPlace(uri: string): RunsStorage | undefined {
  const match = RUNS_URI.exec(uri);
  if (match === null) return undefined;
  try {
    const [branch, id] = match
      .slice(1)
      .map((part) => (part === undefined ? undefined : decodeURIComponent(part)));
    return { branch, id };
  } catch {
    return undefined;
  }
}

function runsUri(branch?: string, id?: string): string {
  return ['bmad://runs', branch, id]
    .filter((part) => part !== undefined)
    .map((part, index) => (index === 0 ? part : encodeURIComponent(part)))
    .join('/');
}

/** The list of branches and each that is not put away, as resources; none in a project without runs. */
export async function runsResources(context: Context) {
  const { branches } = await reading(context);
  if (branches.length === 0) return [];
  const kind = { mimeType: 'text/markdown', origin: 'runs' };
  const live = branches.filter(({ archive }) => archive === undefined);
  return [
    { uri: runsUri(), name: 'runs', ...kind, description: 'Session branches with their workflow runs' },
    ...live.map(({ name, runs, older }) => ({
      uri: runsUri(name),
      name: `runs/${name}`,
      ...kind,
      description: `Session branch with ${plural(runs.length + older, 'run')} of workflows`,
    })),
  ];
}

export async function runNames(context: Context, what: 'branch' | 'run_id'): Promise<string[]> {
  const { branches } = await reading(context);
  return what === 'branch'
    ? branches.map(addressOf)
    : branches
        .flatMap(({ runs }) => runs)
        .sort(byRecency)
        .map(({ id }) => id);
}

async function reading(context: StatePort): Promise<RunsReading> {
  return (await (await context.state()).runs()).lately();
}

/** An archived branch goes by the name of its folder. */
const addressOf = ({ name, archive }: RunBranch): string => archive ?? name;

/** All branches, a branch with its runs, or a run with its state, as Markdown. */
export async function runsText(
  { branch, id }: RunsStorage,
  context: StatePort,
  project?: string,
): Promise<string> {
  const state = await context.state(project);
  const runs = await state.runs();
  if (branch !== undefined && id !== undefined) return runPage(await runs.one(id, branch), state.root);
  const found = await runs.lately();
  if (branch === undefined)
    return lines(
      `# Session branches\n`,
      `Current: ${found.current}\n`,
      found.branches.map(
        (each) =>
          `- ${runsUri(addressOf(each))}: ${standingText(each)}, ${plural(each.runs.length + each.older, 'run')}`,
      ),
      found.problems.map((problem) => `- Problem: ${problem}`),
    );
  const wanted = found.branches.find((each) => addressOf(each) === branch);
  if (wanted === undefined) throw unknown(branch, found);
  return lines(
    `# Session branch ${branch}\n`,
    `${standingText(wanted)}${branch === found.current ? ', the current one' : ''}\n`,
    [...wanted.runs]
      .sort(byRecency)
      .map((run) => `- ${runsUri(branch, run.id)}: ${runLine(runData(run, state.root))}`),
    wanted.problems.map((problem) => `- Problem: ${problem}`),
  );
}

function runPage(run: Run, root: string): string {
  const data = runData(run, root);
  const raw = Object.fromEntries(Object.entries(data).filter(([name]) => name !== 'problems'));
  return `# Run ${data.run_id}\n\n${runText(data)}\n\n## State\n\n${fenced(JSON.stringify(raw, null, 2), 'json')}\n`;
}

function unknown(branch: string, { branches }: RunsReading): BmadError {
  return new BmadError('not_found', `There is no session branch ${quoted(branch)}.`, {
    subject: branch.slice(0, 100),
    suggestions: branches.map((each) => runsUri(addressOf(each))).slice(0, 5),
  });
}
