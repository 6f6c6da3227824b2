import { onceEach } from '../../base/async.ts';
import { BmadError, quoted, ours } from '../../base/errors.ts';
import type { SayStep } from '../../base/step.ts';
import { agentName, agentTitled, titlesOf } from '../../base/text/agent-titles.ts';
import { visible } from '../../base/text/hidden.ts';
import { t } from '../../base/text/message.ts';
import { nameKey, nearest } from '../../base/text/suggest.ts';
import { byteLength, oneLine } from '../../base/text/text.ts';
import type { BmadRecord } from '../../model/record.ts';
import type { Context, Person, ProjectFacts, StatePort, Workspace } from '../context.ts';
import { findRecord } from './names.ts';
import { present } from '../../base/values.ts';

/** The agent that a name stands for, wherever it is known. */
interface MeantAgent {
  /** The name under which its tasks and memories are kept. */
  handle: string;
  /** Everything it is called. */
  names: string[];
  /** What the content has of it, and the content that does. */
  found?: { record: BmadRecord; workspace: Workspace };
  /** What the project's files say of it. */
  colleague?: Colleague;
  /** What an earlier version of BMAD said of it. */
  earlier?: Earlier;
}

type Colleague = Awaited<ReturnType<ProjectFacts['colleagues']>>[number];
type Earlier = NonNullable<ReturnType<Awaited<ReturnType<Context['delegation']>>['earlier']>>;

/**
 * The agent a name stands for: one of the content; else one that the project knows, by its team, requests or learnings; else
 * one of a built-in module that lists leave out; else one that an earlier version of BMAD had; else one that only has memories.
 */
export async function meantAgent(raw: string, workspace: Workspace, context: Context): Promise<MeantAgent> {
  const meant = await namedAgent(raw, workspace, context);
  if (!(meant instanceof BmadError)) return meant;
  const { name } = workspace.catalogue.names.apart(raw);
  const memory = isPlain(name) ? await context.memory().catch(ours(() => undefined)) : undefined;
  if (memory !== undefined && (await memory.count({ agents: [name] })) > 0)
    return { handle: name, names: [name] };
  const colleagues = await colleaguesOf(context);
  const { earlierAgents } = await context.delegation();
  throw unknownAgent(raw, workspace, [...colleagues.map(({ id }) => id), ...earlierAgents], meant);
}

/** The same, but for memories, which nobody has to ask who only looks for a name; or why there is none. */
async function namedAgent(
  raw: string,
  workspace: Workspace,
  context: Context,
): Promise<MeantAgent | BmadError> {
  const own = inContent(raw, workspace, context);
  if (!(own instanceof BmadError)) return ofRecord(own, workspace, raw);
  const name = workspace.catalogue.names.apart(raw).name;
  const { earlier } = await context.delegation();
  const colleagues = await colleaguesOf(context);
  // A project that has requests for qa means it by Quinn too.
  const colleague =
    colleagueNamed(colleagues, raw) ??
    colleagueNamed(colleagues, name) ??
    colleagueNamed(colleagues, earlier(name)?.handle ?? '');
  const asked = colleague?.id ?? raw;
  const all = (await workspace.beside()).length === 0 ? undefined : await workspace.everything();
  for (const place of [...(colleague?.known.includes('file') === true ? [workspace] : []), all]) {
    const record = place === undefined ? own : inContent(asked, place, context);
    if (place !== undefined && !(record instanceof BmadError)) return ofRecord(record, place, raw, colleague);
  }
  const before = [name, ...(colleague?.names ?? [])].map(earlier).find((each) => each !== undefined);
  if (colleague === undefined && before === undefined) return own;
  const handle = colleague?.id ?? before?.handle ?? name;
  return {
    handle,
    names: plainNames([
      handle,
      name,
      ...(colleague?.names ?? []),
      ...(before === undefined ? [] : [before.handle, before.name]),
    ]),
    ...present({ colleague, earlier: before }),
  };
}

/** A record of the content, or why there is none; a name that stands for several is an error. */
function inContent(name: string, workspace: Workspace, context: Context): BmadRecord | BmadError {
  try {
    return findRecord({ name, kind: 'agent', fuzzy: false }, workspace, context);
  } catch (error) {
    return ours((why) => why, 'not_found')(error);
  }
}

function ofRecord(record: BmadRecord, workspace: Workspace, raw: string, colleague?: Colleague): MeantAgent {
  const handle = workspace.catalogue.names.handleOf(record);
  const { name, displayName = name, aliases } = record;
  return {
    handle,
    names: plainNames([raw, handle, name, displayName, ...aliases, ...(colleague?.names ?? [])]),
    found: { record, workspace },
    ...present({ colleague }),
  };
}

const isPlain = (name: string): boolean => name !== '' && !/[/\\:|]|\.\.|\p{C}/u.test(name);

const plainNames = (names: readonly string[]): string[] => [...new Set(names.filter(isPlain))];

/** The project's own files may be out of reach; then it knows nobody. */
async function colleaguesOf(context: Context): Promise<Colleague[]> {
  const state = await context.state().catch(ours(() => undefined));
  return state === undefined ? [] : await (await state.facts()).colleagues();
}

function colleagueNamed(colleagues: readonly Colleague[], name: string): Colleague | undefined {
  const wanted = nameKey(name.trim());
  return colleagues.find(({ names }) => names.some((each) => nameKey(each) === wanted));
}

/** Tells by which name to start an agent that somebody has named; each name is looked up once. */
export function handlesOf(
  workspace: Workspace,
  context: Context,
): (name: string) => Promise<string | undefined> {
  return onceEach(async (name) => {
    const meant = await namedAgent(name, workspace, context).catch(ours(() => undefined));
    return meant === undefined || meant instanceof BmadError ? undefined : meant.handle;
  });
}

const ASKED = { most: 3, length: 160 };

/**
 * What is asked of an agent and still open, with the call that closes it, within so many bytes; one is always named. Nothing
 * where nothing is asked. An agent is asked by any name that starts it.
 */
export async function askedText(
  names: readonly string[],
  workspace: Workspace,
  { context, say }: { context: Context; say: SayStep },
  room: number,
): Promise<string | undefined> {
  const handleFor = handlesOf(workspace, context);
  const all: Colleague['requests'] = [];
  for (const { id, requests } of await colleaguesOf(context))
    if (requests.length > 0 && names.includes((await handleFor(id)) ?? '')) all.push(...requests);
  const [oldest] = all;
  if (oldest === undefined) return undefined;
  const textOf = (count: number): string =>
    [
      'Asked of you and still open:',
      ...all
        .slice(0, count)
        .map(
          ({ id, from, text }) =>
            `- ${id}, asked by ${visible(from)}: ${visible(oneLine(text, ASKED.length))}`,
        ),
      ...(all.length > count ? [t`- and ${all.length - count} more`] : []),
      `Once ${oldest.id} is done: ${say({ operation: 'complete_handoff', args: { id: oldest.id } })}`,
    ].join('\n');
  const counts = [ASKED.most, 2].filter((count) => count <= all.length);
  return textOf(counts.find((count) => byteLength(textOf(count)) <= room) ?? 1);
}

/** Only agents are suggested: what replaced an old one may be a workflow, which nobody can be. */
function unknownAgent(
  name: string,
  workspace: Workspace,
  others: readonly string[],
  cause: BmadError,
): BmadError {
  const names = [...new Set([...agentHandles(workspace), ...others])];
  const { message, subject } = cause;
  return new BmadError(
    'not_found',
    message === t`${quoted(name)} is a name from an earlier version of BMAD.`
      ? t`There is no agent ${quoted(name)}.`
      : message,
    {
      reason: 'content',
      ...present({ subject }),
      suggestions: nearest(name, names),
      hint: agentsThere(workspace),
      cause,
    },
  );
}

const NAMED = 30;

export function agentHandles({ catalogue }: Workspace): string[] {
  const agents = catalogue.listed.filter(({ kind }) => kind === 'agent');
  return agents.map((record) => catalogue.names.handleOf(record));
}

/** The agents to choose from, in one sentence. */
export function agentsThere(workspace: Workspace): string {
  const handles = agentHandles(workspace);
  return t`Agents: ${handles.slice(0, NAMED).join(', ')}${handles.length > NAMED ? ', …' : ''}.`;
}

/** An agent that can be given work. */
export interface AskedAgent extends Person {
  /** What the content has of it, and the content that does. */
  record?: BmadRecord;
  place?: Workspace;
  /** What is to be known of an agent that has no file here: where its persona comes from. */
  note?: string;
}

/** The agent a name stands for, as it is to be played: by its file, or by what is known of it. */
export async function askedAgent(name: string, workspace: Workspace, context: Context): Promise<AskedAgent> {
  const meant = await meantAgent(name, workspace, context);
  if (meant.found === undefined) return standIn(meant);
  const { record, workspace: place } = meant.found;
  return { record, place, handle: meant.handle, ...(await place.delivery.character(record)) };
}

/** The name under which tasks for an agent are kept. */
export async function askedHandle(name: string, context: Context): Promise<string> {
  return (await meantAgent(name, await context.workspace(), context)).handle;
}

/** The best persona there is of an agent without a file: what BMAD once said of it, and what the project says. */
export function standIn({ handle, colleague, earlier }: MeantAgent): AskedAgent {
  const called = colleague?.names.find((each) => nameKey(each) !== nameKey(colleague.id));
  const told = [
    ...(colleague?.domain === undefined ? [] : [`Domain: ${colleague.domain}`]),
    ...(colleague?.requests ?? []).map(
      ({ id, text }) => `Asked of you and still open: ${visible(text)} (${id})`,
    ),
  ];
  const here =
    told.length === 0 ? [] : [{ title: 'In this project', text: told.map((each) => `- ${each}`).join('\n') }];
  const bare = {
    title: 'Role',
    text: `The agent that this project calls ${handle}. No file describes it: answer as the specialist that this name stands for, and say where you had to guess what the role covers.`,
  };
  return {
    handle,
    name: called ?? earlier?.name ?? handle,
    title: earlier?.title ?? '',
    parts: [...(earlier?.parts ?? (colleague?.domain === undefined ? [bare] : [])), ...here],
    elsewhere: [],
    note:
      earlier === undefined
        ? t`${handle} has no file; its persona comes from what the project's files say about it.`
        : t`${handle} has no file here; its persona is that of ${earlier.from}.`,
  };
}

/** The language that the project sets, as it names it; nothing where it sets none, or writes a sentence there. */
export async function languageOf(context: StatePort): Promise<string | undefined> {
  const state = await context.state().catch(ours(() => undefined));
  const set = await state?.language();
  return set !== undefined && /^[\p{L}][\p{L} ()-]{1,39}$/u.test(set) ? set : undefined;
}

/**
 * Whose memories are meant, under every name they may be kept by: two agents of a project may share a name, what it calls
 * one may be BMAD's, and other tools keep memories under a role or a tag.
 */
export async function rememberedAgent(
  raw: string,
  context: Context,
): Promise<{ ids: string[]; names: string[] }> {
  const workspace = await context.workspace();
  agentName(workspace.catalogue.names.apart(raw).name);
  return withColleagues(raw, await meantAgent(raw, workspace, context), context);
}

async function withColleagues(
  raw: string,
  { handle, names }: MeantAgent,
  context: Context,
): Promise<{ ids: string[]; names: string[] }> {
  const keys = new Set([raw, ...names].map((name) => nameKey(name.trim())));
  const same = (await colleaguesOf(context)).filter((colleague) =>
    colleague.names.some((name) => keys.has(nameKey(name))),
  );
  const own = same.filter(({ names: known }) => known.some((name) => nameKey(name) === nameKey(raw.trim())));
  const ids = (own.length > 0 ? own : same).map(({ id }) => id);
  return {
    ids: ids.length > 0 ? ids : [handle],
    names: plainNames([...ids, raw.trim(), ...names, ...same.flatMap((each) => each.names)]),
  };
}

/** With the roles of an agent, which other tools keep memories under; there are too many to be told. */
export const withRoles = ({ names }: { names: readonly string[] }): string[] => [
  ...new Set([...names, ...names.flatMap(titlesOf)]),
];

/** The names to look for in memories; one that nobody has is looked for as it is. */
export async function namesToRecall(
  raw: string | undefined,
  context: Context,
): Promise<string[] | undefined> {
  if (raw === undefined) return undefined;
  const workspace = await context.workspace();
  const meant = await namedAgent(raw, workspace, context).catch(ours((error) => error, 'ambiguous'));
  if (meant instanceof BmadError) return [raw];
  return withRoles(await withColleagues(raw, meant, context));
}

/**
 * The name that something is logged under: that of the agent it stands for. Agents may be new, and a name that several have
 * is logged as it is.
 */
export async function loggedAs(raw: string, context: Context, subject = 'agent'): Promise<string> {
  const workspace = await context.workspace();
  const name = agentName(workspace.catalogue.names.apart(raw).name, subject);
  const meant = await namedAgent(raw, workspace, context).catch(ours((error) => error, 'ambiguous'));
  return meant instanceof BmadError ? name : meant.handle;
}

/**
 * The name that a memory is kept under. Its id is made of it, and other tools make the same, so it stays as it is, unless it
 * is a role or has a module before it.
 */
export async function keptAs(raw: string, context: Context): Promise<string> {
  const { module } = (await context.workspace()).catalogue.names.apart(raw);
  return module === undefined && agentTitled(raw) === undefined ? raw : loggedAs(raw, context);
}

/** The agents that have a piece of work in their menu, as people know them: `pm (John)`. */
export async function doersIn({ catalogue, delivery }: Workspace): Promise<(work: BmadRecord) => string[]> {
  const all = await delivery.doing();
  return (work) =>
    (all.get(work) ?? []).map((agent) => {
      const handle = catalogue.names.handleOf(agent);
      return agent.displayName === undefined ? handle : `${handle} (${oneLine(agent.displayName, 60)})`;
    });
}
