import { once } from '../../base/async.ts';
import { BmadError } from '../../base/errors.ts';
import { CLI_PROGRAM } from '../../base/product.ts';
import { argumentsText, type Step, stepArguments, type StepWriter } from '../../base/step.ts';
import { withoutEnd } from '../../base/text/text.ts';
import type { Call, Context } from '../../operations/context.ts';
import type { CallOutcome } from '../../operations/execute.ts';
import type * as onDemand from '../../operations/on-demand.ts';
import type { ToolChoice } from '../../operations/toolsets.ts';
import { protocolError } from './requests.ts';

type Arguments = Readonly<Partial<Record<string, unknown>>>;
/** Loaded with the operations: a start needs none of it. */
type Writers = Pick<typeof onDemand, 'commandLine' | 'OFFERED' | 'toolCall'>;

/**
 * Steps as a model can take them: calls of tools that are offered, else what every host can do by itself. What only a
 * person may do is a command.
 */
export function stepsFor(
  { fixed, of }: ToolChoice,
  writers: Writers,
  ownProgram?: readonly string[],
): StepWriter {
  const offered = new Set(fixed.filter((tool) => of(tool).offered).map(({ name }) => name));
  return (step) =>
    writers.toolCall(step, (tool) => offered.has(tool)) ??
    elsewhere(step.operation, stepArguments(step), offered) ??
    personsCommand(step, writers, ownProgram);
}

/** What other tools, or the host itself, can do where the tool `bmad` is switched off. */
function elsewhere(operation: string, args: Arguments, offered: ReadonlySet<string>): string | undefined {
  const { name, target, kind, what, query, pattern, run_id, uri, project } = args;
  const resources = offered.has('bmad-resources');
  const call = (tool: string, given: Arguments): string => `${tool} ${argumentsText({ ...given, project })}`;
  switch (operation) {
    case 'execute':
      if (kind === 'agent') return `the tool or the prompt of the agent ${String(name)}`;
      if (offered.has('execute_workflow')) return call('execute_workflow', { workflow_name: name, run_id });
      if (offered.has('bmad-workflow')) return call('bmad-workflow', { workflow: name, run_id });
      return `the prompt of ${String(name)}`;
    case 'read':
      if (resources) return call('bmad-resources', { operation, uri: target });
      return kind === 'resource' ? `the MCP resource ${String(target)}` : undefined;
    case 'search':
      return resources ? call('bmad-resources', { operation, query }) : undefined;
    case 'list':
      if (what === 'resources')
        return resources ? call('bmad-resources', { operation, pattern }) : 'the list of MCP resources';
      if (resources && (what === 'agents' || what === 'workflows'))
        return call('bmad-resources', { operation: what });
      if (what === 'workflows' && offered.has('list_workflows')) return call('list_workflows', {});
      if (what === 'tasks' && offered.has('list_tasks')) return call('list_tasks', {});
      return what === 'agents' || what === 'workflows' ? 'the list of prompts' : undefined;
    case 'list_skills':
      return 'skills/list';
    case 'get_skill':
      return `skills/get ${argumentsText({ uri })}`;
    case 'list_skill_folder':
      return `resources/directory/read ${argumentsText({ uri })}`;
    default:
      return undefined;
  }
}

/**
 * What is offered by no tool at all is for a person at a terminal; a tool that is switched off is for nobody. A server that
 * was started by its path is often the only thing of ours on a machine: the command then has to be started in the same way.
 */
function personsCommand(
  step: Step,
  { OFFERED, commandLine }: Writers,
  ownProgram: readonly string[] | undefined,
): string | undefined {
  const { toolset, behind } = OFFERED[step.operation] ?? {};
  if (toolset !== undefined || behind !== undefined) return undefined;
  const command = commandLine(step);
  if (command === undefined) return undefined;
  const said = `${command} (for a person, in a terminal)`;
  return ownProgram === undefined ? said : `${said}${OTHERWISE}${commandLine(step, ownProgram)}`;
}

const OTHERWISE = `; where ${CLI_PROGRAM} is not installed: `;

/** Texts of one answer, in which the other way to start a command is said once. */
export function withoutRepeats(texts: readonly string[]): string[] {
  const said = new Set<string>();
  return texts.map((text) => {
    if (!text.includes(OTHERWISE)) return text;
    return text
      .split('\n')
      .map((line) => {
        const at = line.indexOf(OTHERWISE);
        const [before, after] = [line.slice(0, at), line.slice(at + OTHERWISE.length)];
        if (at < 0 || after.includes(OTHERWISE)) return line;
        // Indented under what is to be done, it is what the user has to do now.
        if (/^ {3}/.test(line)) return line;
        // A sentence goes on, or ends, behind the command.
        const other = withoutEnd(after, '.)');
        const end = after.slice(other.length);
        if (said.has(other)) return `${before}${end}`;
        said.add(other);
        return line;
      })
      .join('\n');
  });
}

/** The operations are a separate bundle, loaded with the first request that needs one. */
export const operationsOnDemand: () => Promise<typeof onDemand> = once(async () => {
  try {
    return await import('../../operations/on-demand.ts');
  } catch (error) {
    // What Node says of it has paths in it.
    throw protocolError(BmadError.notLoaded(error));
  }
});

/** How steps are written for the clients of this server. */
export async function stepWriter({ tools, ownProgram }: Context): Promise<StepWriter> {
  const writer = writers.get(tools) ?? stepsFor(tools, await operationsOnDemand(), ownProgram);
  writers.set(tools, writer);
  return writer;
}

const writers = new WeakMap<Context['tools'], StepWriter>();

/** Runs the operation of this name. A failure has its steps in its hint. */
export async function ask(
  name: onDemand.LateName,
  args: Record<string, unknown>,
  context: Context,
  call: Call,
): Promise<CallOutcome> {
  const { execute, loadOperation } = await operationsOnDemand();
  const say = await stepWriter(context);
  const outcome = await execute(await loadOperation(name), args, context, { ...call, say });
  return outcome.ok
    ? outcome
    : { ok: false, error: outcome.error.with({ hint: outcome.error.wayOut(say), steps: [] }) };
}
