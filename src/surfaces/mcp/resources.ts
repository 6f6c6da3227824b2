import type {
  ListResourcesResult,
  ListResourceTemplatesResult,
  ReadResourceResult,
} from '@modelcontextprotocol/server';
import type { Call, Context } from '../../operations/context.ts';
import { ask } from './ask.ts';
import { dataOf } from './errors.ts';

export async function resourceList(
  cursor: string | undefined,
  context: Context,
  call: Call,
): Promise<ListResourcesResult> {
  type Item = { uri: string; name: string; mimeType: string; origin: string; description?: string };
  type Page = { items: Item[]; next?: string };
  const { items, next } = dataOf<Page>(await ask('list_resources', { cursor }, context, call));
  return {
    resources: items.map(({ uri, name, mimeType, origin, description }) => ({
      uri,
      name,
      mimeType,
      description: description ?? `From ${origin}`,
    })),
    ...(next === undefined ? {} : { nextCursor: next }),
  };
}

const template = (name: string, uriTemplate: string, title: string, description: string) => ({
  name,
  uriTemplate,
  title,
  description,
});

export const TEMPLATES = [
  template('agent', 'bmad://agents/{agent}', 'Agent by name', 'The main file of an agent'),
  template('workflow', 'bmad://workflows/{workflow}', 'Workflow by name', 'The main file of a workflow'),
  template('knowledge', 'bmad://knowledge/{knowledge}', 'Knowledge by name', 'One piece of knowledge'),
  template(
    'memories',
    'bmad://memory/{memory}',
    'Memories by type',
    'What the project remembers: shared-context, decisions, agent-learnings, failures or stories',
  ),
  template(
    'memory',
    'bmad://memory/{memory}/{memory_id}',
    'Memory by id',
    'One memory, with its earlier versions',
  ),
  template(
    'runs',
    'bmad://runs/{branch}',
    'Session branch by name',
    'The runs of workflows in a session branch',
  ),
  template(
    'run',
    'bmad://runs/{branch}/{run_id}',
    'Run by id',
    'One run of a workflow: state, steps, artefacts',
  ),
  template(
    'project-agent',
    'bmad://project/agents/{project_agent}',
    'Learnings of an agent',
    'What an agent has learned in this project',
  ),
  template('task', 'bmad://tasks/{task_id}', 'Task by id', 'One task for a sub-agent: state, brief, result'),
  template(
    'contract',
    'bmad://contracts/{contract_id}',
    'Delivery contract by id',
    'One delivery contract, with what is still missing',
  ),
  template('file', 'bmad://{+path}', 'File by path', 'Any file of the BMAD content'),
  template('skill', 'skill://{+skill}', 'File of a skill', 'Any file of an agent or workflow, as a skill'),
];

export function templateList(): ListResourceTemplatesResult {
  return { resourceTemplates: [...TEMPLATES] };
}

export async function resourceRead(uri: string, context: Context, call: Call): Promise<ReadResourceResult> {
  type File = { mimeType: string; text?: string; blob?: string; origin?: Record<string, string> };
  const { mimeType, text, blob, origin } = dataOf<File>(
    await ask('read_resource', { uri }, context, call),
    uri,
  );
  // The skills extension keeps the keys of its resources to its own prefix.
  const about = {
    uri,
    mimeType,
    ...(origin === undefined || uri.startsWith('skill:') ? {} : { _meta: { 'bmad/origin': origin } }),
  };
  return { contents: [blob === undefined ? { ...about, text: text ?? '' } : { ...about, blob }] };
}
