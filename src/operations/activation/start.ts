import { METHOD } from '../../model/module.ts';
import { BmadError, quoted, attempt, orElse } from '../../base/errors.ts';
import { saying, type Step } from '../../base/step.ts';
import { fold } from '../../base/text/suggest.ts';
import { present } from '../../base/values.ts';
import { byteLength, cut } from '../../base/text/text.ts';
import { type BmadRecord, isListed, qualifiedName, shortName } from '../../model/record.ts';
import { alsoNamed, namedRecord, type NamedTarget, type NameRequest, startOf } from '../catalogue/names.ts';
import { LEAST_PART, type ShownText, type ShowOptions, showText } from '../catalogue/shown-text.ts';
import type { Activation, Call, Context, Workspace } from '../context.ts';
import type { textLimits } from '../host-limits.ts';

interface MeantStart {
  record: BmadRecord;
  /** What it is told: the caller's words, behind the command where one is meant. */
  message: string | undefined;
  /** What a caller has to know first: that something else is started than what was named, or what else has the name. */
  told?: string;
  /** The file that it is to be done with. */
  with?: BmadRecord;
}

type Command = Awaited<ReturnType<Workspace['delivery']['commands']>>['named'][number];
type Request = NameRequest & { call: Call };

/**
 * What a name starts. What the project has itself comes first, whatever its generation calls it: a workflow, or an entry
 * of an agent's menu. Only then comes what is built in.
 */
export async function meantStart(
  wanted: NamedTarget,
  workspace: Workspace,
  context: Context,
  asked: Request,
): Promise<MeantStart> {
  const found = await namedRecord(wanted, workspace, context, asked).catch((error: unknown) => {
    if (error instanceof BmadError && /^(?:not_found|ambiguous)$/.test(error.code)) return error;
    throw error;
  });
  const plain = (): MeantStart => {
    if (found instanceof BmadError) throw found;
    const { operation, call } = asked;
    const told = alsoNamed(wanted, found, workspace, (record) =>
      saying(call.say)({ operation, args: startOf(record) }),
    );
    return { record: found, message: asked.words, ...present({ told }) };
  };
  const name = wanted.name.trim();
  const checklist = found instanceof BmadError ? checklistMeant(wanted, workspace, asked) : undefined;
  if (checklist !== undefined) return checklist;
  if (wanted.kind === 'agent' || wanted.module !== undefined || name.includes('/')) return plain();
  const record = found instanceof BmadError ? undefined : found;
  const isOwn = record !== undefined && record.origin.kind !== 'package';
  if (isOwn && (!name.startsWith('*') || isCalled(record, name))) return plain();
  // What the user prefers is not taken over by a menu of the project.
  if (record !== undefined && (workspace.catalogue.isPreferred(record) || !hasOwnAgents(workspace)))
    return plain();
  const several = name.startsWith('*') ? [] : calledThat(name, found, workspace);
  if (several.length > 1) return plain();
  const command = await commandMeant(name, record === undefined, workspace, asked);
  if (command !== undefined) return startedAs(command, name, record, workspace, asked);
  return plain();
}

/** A checklist of version 4 is run by a task, which is given its name. */
function checklistMeant(
  { name, kind, module }: NamedTarget,
  { catalogue }: Workspace,
  { words }: Request,
): MeantStart | undefined {
  if (kind === 'agent') return undefined;
  const query = { name, kinds: ['checklist'] as const, module, fuzzy: false };
  const found = attempt(() => catalogue.names.resolve(query).record, orElse(undefined));
  if (found === undefined) return undefined;
  const tasks = catalogue.callable.filter(
    (record) => record.name === 'execute-checklist' && record.origin === found.origin,
  );
  const task = tasks.find(({ moduleName }) => moduleName === found.moduleName) ?? tasks[0];
  if (task === undefined) return undefined;
  return {
    record: task,
    message: words,
    with: found,
    told: `${quoted(found.name)} is a checklist: run it with the task below.`,
  };
}

/** The entry of a menu that a name stands for; one of another generation only where the project has nothing else. */
async function commandMeant(
  name: string,
  isUnknown: boolean,
  { catalogue, delivery }: Workspace,
  asked: Request,
): Promise<Command | undefined> {
  const { named, counterpart } = await delivery.commands(name);
  const own = named.filter(({ agent }) => agent.origin.kind !== 'package');
  const some = own.length > 0 || !isUnknown ? own : named;
  if (some.length === 0) return counterpart;
  return chosen(name, some, (record) => catalogue.names.handleOf(record), asked);
}

/** Whether a name is one of its own, and not only one that another generation has for it. */
function isCalled({ name, aliases }: BmadRecord, asked: string): boolean {
  const wanted = fold(asked.replace(/^\*/, ''));
  return [name, shortName(name), ...aliases].some((each) => fold(each) === wanted);
}

/** Workflows of several modules that have an ambiguous name: no menu decides between them. */
function calledThat(name: string, found: unknown, { catalogue }: Workspace): BmadRecord[] {
  if (!(found instanceof BmadError) || found.code !== 'ambiguous') return [];
  const wanted = fold(shortName(name));
  return catalogue.winners.filter(
    (record) => record.kind !== 'agent' && isListed(record) && fold(shortName(record.name)) === wanted,
  );
}

function hasOwnAgents({ catalogue }: Workspace): boolean {
  return catalogue.winners.some(({ kind, origin }) => kind === 'agent' && origin.kind !== 'package');
}

/** Agents for everything: what all agents can do is asked of them. */
const GENERALISTS = ['bmad-orchestrator', 'bmad-master'];

/** Of several agents that have a command: the one it is usually asked of. */
function chosen(
  name: string,
  all: readonly Command[],
  handleOf: (record: BmadRecord) => string,
  asked: Request,
): Command {
  const { operation } = asked;
  const [first] = all;
  const ofMethod = all.filter(({ agent }) => METHOD.includes(agent.moduleName));
  const some = ofMethod.length > 0 ? ofMethod : all;
  const targets = new Set(some.map(({ starts, agent }) => starts ?? agent));
  if (targets.size === 1 && some[0] !== undefined) return some[0];
  const best =
    some.find(({ isUsual }) => isUsual) ??
    GENERALISTS.flatMap((agent) => some.filter((command) => command.agent.name === agent))[0];
  if (best !== undefined) return best;
  const said = first?.said ?? name;
  throw new BmadError('ambiguous', `${quoted(name)} is in the menu of ${some.length} agents.`, {
    subject: cut(name, 200),
    suggestions: some.map(({ agent }) => handleOf(agent)),
    hint: 'Say which agent is to do it.',
    steps: some.slice(0, 4).map(({ agent }) => ({
      operation,
      args: { name: handleOf(agent), kind: 'agent', message: said },
      why: `Ask ${agent.displayName ?? handleOf(agent)}`,
    })),
  });
}

/** A command that is a workflow of its own is that workflow; any other is said to the agent. */
function startedAs(
  { agent, said, starts }: Command,
  name: string,
  builtIn: BmadRecord | undefined,
  { catalogue }: Workspace,
  { words, call, operation }: Request,
): MeantStart {
  if (starts !== undefined) return { record: starts, message: words };
  const version = agent.bmadVersion === undefined ? 'this project' : `BMAD ${agent.bmadVersion}`;
  const other =
    builtIn === undefined
      ? ''
      : ` Another version is built in under this name: ${saying(call.say)({
          operation,
          args: { name: qualifiedName(builtIn), kind: 'workflow' },
        })}.`;
  return {
    record: agent,
    message: words === undefined ? said : `${said} ${words}`,
    told: `In ${version}, ${quoted(name)} is ${said === name ? '' : `${said}, `}a command of the agent ${catalogue.names.handleOf(agent)}: become that agent and run it.${other}`,
  };
}

/** What is started, and for whom. */
export interface Started {
  activation: Activation;
  workspace: Workspace;
  context: Context;
  call: Call;
  limits: ReturnType<typeof textLimits>;
}

export interface Asked extends Pick<ShowOptions, 'section' | 'cursor' | 'detail'> {
  message: string | undefined;
  /** The address of a file that is to be worked through, such as the checklist that a task runs. */
  along?: string | undefined;
}

/** The text of a start; `starts` is the work that came with an agent. */
export interface StartText extends ShownText {
  starts?: ReturnType<typeof startOf>;
  steps?: Step[];
}

/** Room for what is said under a text. */
const NOTE = 250;

/** A text with what stands before it, as far as one answer takes it. */
export function startShown(
  head: string,
  body: string,
  { limits }: Pick<Started, 'limits'>,
  { detail }: Pick<Asked, 'detail'>,
): ShownText {
  const used = byteLength(head) + 2;
  const maxBytes = Math.max(LEAST_PART, limits.maxBytes - used);
  const mostBytes = Math.max(maxBytes, limits.mostBytes - used);
  return showText(body, { detail, maxBytes, mostBytes, head });
}

/** Whether texts come in one answer, whatever else there is to say. */
export function fitTogether(
  texts: readonly string[],
  { limits }: Pick<Started, 'limits'>,
  { detail }: Pick<Asked, 'detail'>,
): boolean {
  const size = texts.reduce((sum, text) => sum + byteLength(text) + 2, NOTE);
  return detail === 'full' || size <= limits.mostBytes;
}
