import { BmadError } from '../../base/errors.ts';
import { isListed, type BmadRecord } from '../../model/record.ts';
import type { Context, Workspace } from '../context.ts';
import { findRecord } from '../catalogue/targets.ts';

const NAMED = 30;

/** The agent a name stands for; where there is none, those there are. */
export function agentNamed(name: string, workspace: Workspace, context: Context): BmadRecord {
  try {
    return findRecord({ name, kind: 'agent', fuzzy: false }, workspace, context);
  } catch (error) {
    if (!(error instanceof BmadError) || error.code !== 'not_found') throw error;
    throw new BmadError(error.code, error.message, {
      ...(error.subject === undefined ? {} : { subject: error.subject }),
      suggestions: error.suggestions,
      hint: agentsThere(workspace),
      cause: error,
    });
  }
}

export function agentHandles({ catalogue }: Workspace): string[] {
  const agents = catalogue.winners.filter((record) => record.kind === 'agent' && isListed(record));
  return agents.map((record) => catalogue.names.handleOf(record));
}

/** The agents to choose from, in one sentence. */
export function agentsThere(workspace: Workspace): string {
  const handles = agentHandles(workspace);
  return `Agents: ${handles.slice(0, NAMED).join(', ')}${handles.length > NAMED ? ', …' : ''}.`;
}

/** The name under which tasks for an agent are kept. */
export async function handleOf(name: string, context: Context, project: string | undefined): Promise<string> {
  const workspace = await context.workspace(project);
  return workspace.catalogue.names.handleOf(agentNamed(name, workspace, context));
}
