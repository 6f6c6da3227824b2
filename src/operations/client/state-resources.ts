import { BmadError, quoted, attempt, orElse } from '../../base/errors.ts';
import { contentPath } from '../../base/files/paths.ts';
import { localDay, fenced } from '../../base/text/text.ts';
import { plural } from '../../base/text/message.ts';
import { MEMORY_TYPES, type MemoryType } from '../../model/memory.ts';
import type { Run, RunBranch, RunsReading } from '../../model/run.ts';
import { FINAL_STATES, type TaskState } from '../../model/task.ts';
import { lines } from '../answer-text.ts';
import type { Call, Context, MemoryPort, StatePort } from '../context.ts';
import { handOver } from '../execute.ts';
import { contractData, contractLine, findingLines } from '../handover/handovers.ts';
import { getAgentMemory, learningsText } from '../memory/get-agent-memory.ts';
import { headline, memoryData } from '../memory/memory-view.ts';
import { getFailureMuseum, museumText } from '../project/failures.ts';
import { contextText } from '../project/project-context-text.ts';
import { runText } from '../runs/run-text.ts';
import { byRecency, runData, runLine, standingText } from '../runs/run-view.ts';
import { taskLine, viewOf } from '../tasks/task-view.ts';

/** What a project remembers and says about itself: no files of the content, but read like them. */

interface StateResource {
  uri: string;
  name: string;
  mimeType: string;
  origin: string;
  description: string;
}

/** The text behind a URI of the project's state; nothing for any other URI. */
export async function stateText(uri: string, context: Context, call: Call): Promise<StateText | undefined> {
  const found = await textBehind(uri, context, call);
  // It is handed out like a file, and a file of lines ends with one.
  return found && { ...found, text: found.text.endsWith('\n') ? found.text : `${found.text}\n` };
}

interface StateText {
  text: string;
  origin: string;
}

async function textBehind(uri: string, context: Context, call: Call): Promise<StateText | undefined> {
  const behind = memoryBehind(uri) ?? runsBehind(uri) ?? workBehind(uri) ?? projectBehind(uri);
  if (behind === undefined || (await isContent(uri, context))) return undefined;
  return { text: await behind.text(context, call), origin: behind.origin };
}

/** What an address of the state stands for, to be written down. */
interface Behind {
  origin: string;
  text(context: Context, call: Call): Promise<string>;
}

/** A flat folder of content may have `tasks/x.xml` too: what is listed as a file is that file. */
async function isContent(uri: string, context: Context): Promise<boolean> {
  const { delivery } = await context.workspace();
  const path = attempt(() => contentPath(uri), orElse(undefined));
  return path !== undefined && (await delivery.paths()).has(path);
}

/** All of it that has a fixed address, in a fixed order. */
export async function stateResources(context: Context): Promise<StateResource[]> {
  const one = (uri: string, name: string, origin: string, description: string): StateResource => ({
    uri,
    name,
    mimeType: 'text/markdown',
    origin,
    description,
  });
  return [
    ...PROJECT_RESOURCES.map(({ name, description }) =>
      one(projectUri(name), `project/${name}`, 'project', description),
    ),
    ...MEMORY_TYPES.map((type) =>
      one(`bmad://memory/${type}`, `memory/${type}`, 'memory', `What the project remembers: ${type}`),
    ),
    ...WORK_RESOURCES.map(({ name, description }) => one(`bmad://${name}`, name, name, description)),
    ...(await runsResources(context)),
  ];
}

/** `bmad://memory/decisions` and `bmad://memory/decisions/{id}`. */
const MEMORY_URI = /^bmad:\/\/memory\/([a-z-]+)(?:\/([0-9a-f-]{36}))?$/i;

function memoryBehind(uri: string): Behind | undefined {
  const [, name, id] = MEMORY_URI.exec(uri) ?? [];
  const type = MEMORY_TYPES.find((known) => known === name);
  return type && { origin: 'memory', text: (context) => memoryText(type, id, context) };
}

/** All memories of a type as Markdown, or one of them with its earlier versions. */
async function memoryText(type: MemoryType, id: string | undefined, context: MemoryPort): Promise<string> {
  const memory = await context.memory();
  if (id === undefined) return (await memory.exported('markdown', { type })).text;
  const { entry, revisions } = await memory.get(id, type);
  const earlier = revisions.map(
    ({ revision, at, text }) => `\n## Revision ${revision}, ${localDay(new Date(at))}\n\n${fenced(text)}\n`,
  );
  return `# ${headline(memoryData(entry))}\n\n${fenced(entry.text)}\n${earlier.join('')}`;
}

/** `bmad://project/context`, `…/decisions`, `…/failures`, `…/session` and `bmad://project/agents/{agent}`. */
const PROJECT_URI = /^bmad:\/\/project\/(?:(context|decisions|failures|session)|agents\/([^/?#]{1,300}))$/i;

const PROJECT_RESOURCES = [
  { name: 'context', description: 'What the project says about itself' },
  { name: 'decisions', description: 'The project’s decisions, newest first' },
  { name: 'failures', description: 'The project’s past failures and the rules they led to' },
  { name: 'session', description: 'Where the last session left off' },
] as const;

function projectBehind(uri: string): Behind | undefined {
  const [, part, name] = PROJECT_URI.exec(uri) ?? [];
  const agent = name === undefined ? undefined : contentPath(`bmad://${name}`);
  if (part === undefined && agent === undefined) return undefined;
  return { origin: 'project', text: (...call) => projectText(part?.toLowerCase(), agent, ...call) };
}

function projectUri(part: string): string {
  return `bmad://project/${part}`;
}

/** The whole of it as Markdown: unlike an answer, a resource is not kept short. */
async function projectText(
  part: string | undefined,
  agent: string | undefined,
  context: Context,
  call: Call,
): Promise<string> {
  if (part === 'context' || part === 'decisions') {
    const section = part === 'context' ? 'all' : part;
    const { contextData } = await import('../project/project-context-data.ts');
    return contextText(await contextData(section, context, call), false, Infinity);
  }
  if (part === 'failures') return museumText(await handOver(getFailureMuseum, {}, context, call), Infinity);
  if (agent !== undefined)
    return learningsText(await handOver(getAgentMemory, { agent }, context, call), Infinity);
  const facts = await (await context.state()).facts();
  const problems: string[] = [];
  const page = await facts.sessionPage(problems);
  return page === undefined ? [...problems, 'No session has been saved yet.'].join('\n') : facts.shown(page);
}

/** `bmad://runs`, `bmad://runs/{branch}` and `bmad://runs/{branch}/{run_id}`. */
const RUNS_URI = /^bmad:\/\/runs(?:\/([^/?#]+))?(?:\/([^/?#]+))?\/?$/i;

function runsBehind(uri: string): Behind | undefined {
  const match = RUNS_URI.exec(uri);
  if (match === null) return undefined;
  try {
    const [branch, id] = match
      .slice(1)
      .map((part) => (part === undefined ? undefined : decodeURIComponent(part)));
    return { origin: 'runs', text: (context) => runsText(branch, id, context) };
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
async function runsResources(context: Context) {
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
async function runsText(
  branch: string | undefined,
  id: string | undefined,
  context: StatePort,
): Promise<string> {
  const state = await context.state();
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

/** `bmad://tasks`, `bmad://tasks/{task_id}`, `bmad://contracts` and `bmad://contracts/{contract_id}`. */
const WORK_URI = /^bmad:\/\/(tasks|contracts)(?:\/([\w.-]{1,200}))?\/?$/i;

const WORK_RESOURCES = [
  { name: 'tasks', description: 'Tasks for sub-agents: what is waiting, who works on what, what is done' },
  { name: 'contracts', description: 'Delivery contracts between teams and their status' },
] as const;

function workBehind(uri: string): Behind | undefined {
  const [, what, id] = WORK_URI.exec(uri) ?? [];
  if (what === undefined) return undefined;
  const isTask = what.toLowerCase() === 'tasks';
  return {
    origin: isTask ? 'tasks' : 'contracts',
    async text(context) {
      const state = await context.state();
      return isTask ? taskText(await state.tasks(), id) : contractText(await state.handovers(), id);
    },
  };
}

/** A resource comes whole: of what has ended it has the last, so that it does not grow with all that was ever done. */
const MOST_ENDED = 100;
const hasEnded = (status: TaskState): boolean => FINAL_STATES.includes(status);

type State = Awaited<ReturnType<Context['state']>>;

async function taskText(
  { queue }: Awaited<ReturnType<State['tasks']>>,
  id: string | undefined,
): Promise<string> {
  if (id === undefined) {
    const { tasks, problems } = await queue.all();
    const open = tasks.filter(({ status }) => !hasEnded(status));
    const shown = new Set([...open, ...tasks.filter(({ status }) => hasEnded(status)).slice(-MOST_ENDED)]);
    const listed = tasks.filter((task) => shown.has(task)).map((task) => taskLine(viewOf(task)));
    const left = tasks.length - listed.length;
    return [
      `# Tasks`,
      ...problems,
      listed.join('\n') || 'There are no tasks.',
      ...(left === 0 ? [] : [`${left} more have ended: task_list has them, page by page.`]),
    ].join('\n\n');
  }
  const task = await queue.get(id);
  const result = await queue.result(task);
  return [
    taskLine(viewOf(task)),
    `## Brief\n\n${fenced(await queue.brief(task), 'markdown')}`,
    ...(result === undefined ? [] : [`## Result\n\n${fenced(result)}`]),
  ].join('\n\n');
}

async function contractText(
  { contracts }: Awaited<ReturnType<State['handovers']>>,
  id: string | undefined,
): Promise<string> {
  if (id === undefined) {
    const { contracts: kept, problems } = await contracts.all();
    const listed = kept.map((each) => contractLine(contractData(each)));
    return ['# Delivery contracts', ...problems, listed.join('\n') || 'There are no contracts.'].join('\n\n');
  }
  const kept = await contracts.get(id);
  const { valid, findings } = await contracts.validate(kept);
  return [
    contractLine(contractData(kept)),
    valid ? 'It is complete.' : ['It is not complete:', ...findingLines(findings)].join('\n'),
    fenced(kept.text, 'markdown'),
  ].join('\n\n');
}

/** The ids that there are, for completions. */
export async function workIds(what: 'tasks' | 'contracts', context: StatePort): Promise<string[]> {
  const state = await context.state();
  if (what === 'tasks') return (await (await state.tasks()).queue.all()).tasks.map(({ task_id }) => task_id);
  return (await (await state.handovers()).contracts.all()).contracts.map(({ id }) => id);
}
