import type { Workspace } from '../context.ts';

const NAMED = 30;

export function agentHandles({ catalogue }: Workspace): string[] {
  const agents = catalogue.listed.filter(({ kind }) => kind === 'agent');
  return agents.map((record) => catalogue.names.handleOf(record));
}

/** The agents to choose from, in one sentence. */
export function agentsThere(workspace: Workspace): string {
  const handles = agentHandles(workspace);
  return `Agents: ${handles.slice(0, NAMED).join(', ')}${handles.length > NAMED ? ', …' : ''}.`;
}
