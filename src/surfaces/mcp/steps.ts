import { argumentsText, type StepWriter } from '../../base/step.ts';
import { CLI_PROGRAM } from '../../base/product.ts';
import type { ToolChoice } from '../../operations/toolsets.ts';
import { OFFERED } from '../../operations/offered.ts';
import { toolCall } from '../../operations/unified/forms.ts';

type Arguments = Readonly<Partial<Record<string, unknown>>>;

/**
 * Steps as a model can take them: calls of tools that are offered, else what every host can do by itself. What only a
 * person may do is a command.
 */
export function stepsFor({ fixed, of }: ToolChoice): StepWriter {
  const offered = new Set(fixed.filter((tool) => of(tool).offered).map(({ name }) => name));
  return (step) =>
    toolCall(step, (tool) => offered.has(tool)) ??
    elsewhere(step.operation, step.args ?? {}, offered) ??
    personsCommand(step.operation);
}

/** What other tools, or the host itself, can do where the tool `bmad` is switched off. */
function elsewhere(operation: string, args: Arguments, offered: ReadonlySet<string>): string | undefined {
  const { name, target, kind, what, query, pattern, run_id } = args;
  const resources = offered.has('bmad-resources');
  const call = (tool: string, given: Arguments): string => `${tool} ${argumentsText(given)}`;
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
      return offered.has('list_workflows') ? call('list_workflows', {}) : 'the list of prompts';
    default:
      return undefined;
  }
}

/** What is offered by no tool at all is for a person at a terminal; a tool that is switched off is for nobody. */
function personsCommand(operation: string): string | undefined {
  const { toolset, behind, command } = OFFERED[operation] ?? {};
  return toolset === undefined && behind === undefined && command !== undefined
    ? `${CLI_PROGRAM} ${command} (for a person, in a terminal)`
    : undefined;
}
