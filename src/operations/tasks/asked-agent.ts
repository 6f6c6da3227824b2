import { BmadError, quoted } from '../../base/errors.ts';
import { ours } from '../../base/expected.ts';
import { nameKey } from '../../base/text/same-name.ts';
import { nearest } from '../../base/text/suggest.ts';
import { MEMORY_TYPES } from '../../model/memory.ts';
import type { BmadRecord } from '../../model/record.ts';
import { findRecord } from '../catalogue/targets.ts';
import type { Context, Person, Workspace } from '../context.ts';
import { agentHandles, agentsThere } from './task-agents.ts';

/** An agent that can be given work. */
export interface AskedAgent extends Person {
  /** What the content has of it. */
  record?: BmadRecord;
  /** What is to be known of an agent that has no file here: where its persona comes from. */
  note?: string;
}

/**
 * The agent a name stands for: one of the content; else one that the project knows, by its team, requests, learnings or
 * memories; else one that an earlier version of BMAD had. What has no file is played by what is known of it.
 */
export async function askedAgent(
  name: string,
  workspace: Workspace,
  context: Context,
  project: string | undefined,
): Promise<AskedAgent> {
  try {
    const record = findRecord({ name, kind: 'agent', fuzzy: false }, workspace, context);
    return await personOf(record, workspace);
  } catch (error) {
    if (!(error instanceof BmadError) || error.code !== 'not_found') throw error;
    const known = await withoutFile(name, workspace, context, project);
    if (known !== undefined) return known;
    throw await unknownAgent(name, workspace, context, project, error);
  }
}

/** The name under which tasks for an agent are kept. */
export async function askedHandle(
  name: string,
  context: Context,
  project: string | undefined,
): Promise<string> {
  return (await askedAgent(name, await context.workspace(project), context, project)).handle;
}

/** The language that the project sets, as it names it; nothing where it sets none, or writes a sentence there. */
export async function languageOf({ delivery }: Workspace): Promise<string | undefined> {
  const settings = await delivery.projectSettings();
  const set = settings.find(({ name }) => name === 'communication_language')?.value.trim();
  return set !== undefined && /^[\p{L}][\p{L} ()-]{1,39}$/u.test(set) ? set : undefined;
}

async function personOf(record: BmadRecord, { catalogue, delivery }: Workspace): Promise<AskedAgent> {
  return { record, handle: catalogue.names.handleOf(record), ...(await delivery.character(record)) };
}

async function withoutFile(
  name: string,
  workspace: Workspace,
  context: Context,
  project: string | undefined,
): Promise<AskedAgent | undefined> {
  // A name with a module in it is one of the content.
  if (/[/\\:|]|\.\.|\p{C}/u.test(name)) return undefined;
  const colleagues = await colleaguesOf(context, project);
  const { earlier } = await context.delegation();
  // A project that has requests for qa means it by Quinn too.
  const colleague =
    colleagueNamed(colleagues, name) ?? colleagueNamed(colleagues, earlier(name)?.handle ?? '');
  const own =
    colleague?.known.includes('file') === true ? fileOf(colleague.id, workspace, context) : undefined;
  if (own !== undefined) return personOf(own, workspace);
  const before = [name, ...(colleague?.names ?? [])].map(earlier).find((each) => each !== undefined);
  const isRemembered = colleague !== undefined || before !== undefined;
  if (!isRemembered && !(await hasMemories(name, context, project))) return undefined;
  return composed(name, colleague, before);
}

function fileOf(id: string, workspace: Workspace, context: Context): BmadRecord | undefined {
  try {
    return findRecord({ name: id, kind: 'agent', fuzzy: false }, workspace, context);
  } catch (error) {
    return ours(() => undefined, 'not_found', 'ambiguous')(error);
  }
}

type Colleague = Awaited<ReturnType<typeof colleaguesOf>>[number];
type Earlier = NonNullable<ReturnType<Awaited<ReturnType<Context['delegation']>>['earlier']>>;

/** The best persona there is of an agent without a file: what BMAD once said of it, and what the project says. */
function composed(name: string, colleague: Colleague | undefined, before: Earlier | undefined): AskedAgent {
  const handle = colleague?.id ?? before?.handle ?? name.trim();
  const called = colleague?.names.find((each) => nameKey(each) !== nameKey(colleague.id));
  const told = [
    ...(colleague?.domain === undefined ? [] : [`Domain: ${colleague.domain}`]),
    ...(colleague?.requests ?? []).map((text) => `Asked of you and still open: ${text}`),
  ];
  const here =
    told.length === 0 ? [] : [{ title: 'In this project', text: told.map((each) => `- ${each}`).join('\n') }];
  const bare = {
    title: 'Role',
    text: `The agent that this project calls ${handle}. No file describes it: answer as the specialist that this name stands for, and say where you had to guess what the role covers.`,
  };
  return {
    handle,
    name: called ?? before?.name ?? handle,
    title: before?.title ?? '',
    parts: [...(before?.parts ?? (colleague?.domain === undefined ? [bare] : [])), ...here],
    elsewhere: [],
    note:
      before === undefined
        ? `${handle} has no file; its persona is what the project's files say of it.`
        : `${handle} has no file here; its persona is that of ${before.from}.`,
  };
}

/** The project's own files may be out of reach; then it knows nobody. */
async function colleaguesOf(context: Context, project: string | undefined) {
  const state = await context.state(project).catch(ours(() => undefined));
  return state === undefined ? [] : await (await state.facts()).colleagues();
}

function colleagueNamed(colleagues: readonly Colleague[], name: string): Colleague | undefined {
  const wanted = nameKey(name.trim());
  return colleagues.find(({ names }) => names.some((each) => nameKey(each) === wanted));
}

async function hasMemories(name: string, context: Context, project: string | undefined): Promise<boolean> {
  const memory = await context.memory(project).catch(ours(() => undefined));
  if (memory === undefined) return false;
  for (const type of MEMORY_TYPES)
    if ((await memory.browse(type, [name.trim()], { most: 0 })).total > 0) return true;
  return false;
}

/** Only agents are suggested: what replaced an old one may be a workflow, which nobody can be. */
async function unknownAgent(
  name: string,
  workspace: Workspace,
  context: Context,
  project: string | undefined,
  cause: BmadError,
): Promise<BmadError> {
  const { earlierAgents } = await context.delegation();
  const own = (await colleaguesOf(context, project)).map(({ id }) => id);
  const names = [...new Set([...agentHandles(workspace), ...own, ...earlierAgents])];
  const { message, subject } = cause;
  return new BmadError(
    'not_found',
    message.startsWith('There is no') ? message : `There is no agent ${quoted(name)}.`,
    {
      ...(subject === undefined ? {} : { subject }),
      suggestions: nearest(name, names),
      hint: agentsThere(workspace),
      cause,
    },
  );
}
