import { BmadError } from '../base/errors.ts';
import { isListed, type BmadRecord } from '../model/record.ts';
import type { Context, Workspace } from './context.ts';
import { findRecord } from './targets.ts';

const NAMED = 30;

/** The agent a name stands for; where there is none, those there are. */
export function agentNamed(name: string, workspace: Workspace, context: Context): BmadRecord {
  try {
    return findRecord({ name, kind: 'agent', fuzzy: false }, workspace, context);
  } catch (error) {
    if (!(error instanceof BmadError) || error.code !== 'not_found') throw error;
    const { winners, names } = workspace.catalogue;
    const agents = winners.filter((record) => record.kind === 'agent' && isListed(record));
    const handles = agents.map((record) => names.handleOf(record));
    throw new BmadError(error.code, error.message, {
      ...(error.subject === undefined ? {} : { subject: error.subject }),
      suggestions: error.suggestions,
      hint: `Agents: ${handles.slice(0, NAMED).join(', ')}${handles.length > NAMED ? ', …' : ''}.`,
      cause: error,
    });
  }
}

/** The name under which tasks for an agent are kept. */
export async function handleOf(name: string, context: Context, project: string | undefined): Promise<string> {
  const workspace = await context.workspace(project);
  return workspace.catalogue.names.handleOf(agentNamed(name, workspace, context));
}
