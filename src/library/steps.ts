import type { StepWriter } from '../base/step.ts';

const LISTS: Partial<Record<string, string>> = {
  agents: 'listAgents()',
  workflows: 'listWorkflows()',
  resources: 'listAllFiles()',
};

/** A step as a call of the library; most operations have none. */
export const asFunctionCall: StepWriter = ({ operation, args = {} }) => {
  const { name, target, kind, what, query } = args;
  switch (operation) {
    case 'list':
      return LISTS[String(what)];
    case 'search':
      return `search(${JSON.stringify(query ?? '…')})`;
    case 'execute':
      return `activate(${JSON.stringify(name)})`;
    case 'read':
      return kind === 'resource'
        ? `loadFile(${JSON.stringify(target)})`
        : `loadAgent(${JSON.stringify(target)})`;
    default:
      return undefined;
  }
};
