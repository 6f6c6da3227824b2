import { argumentsText, stepArguments, type StepWriter } from '../base/step.ts';

const LISTS: Partial<Record<string, string>> = {
  agents: 'listAgents()',
  workflows: 'listWorkflows()',
  resources: 'listAllFiles()',
};

const LOADERS: Partial<Record<string, string>> = { resource: 'loadFile', workflow: 'loadWorkflow' };

/** A step as a call of the library; most operations have none. */
export const asFunctionCall: StepWriter = (step) => {
  const { name, target, kind, what, query, message } = stepArguments(step);
  switch (step.operation) {
    case 'list':
      return LISTS[String(what)];
    case 'search':
      return `search(${JSON.stringify(query)})`;
    case 'execute':
      return `activate(${JSON.stringify(name)}${message === undefined ? '' : `, ${argumentsText({ message })}`})`;
    case 'read':
      return `${LOADERS[String(kind)] ?? 'loadAgent'}(${JSON.stringify(target)})`;
    default:
      return undefined;
  }
};
