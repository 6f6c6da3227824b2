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
      description: description ?? (origin === 'generated' ? 'Made by the server' : `From ${origin}`),
    })),
    ...(next === undefined ? {} : { nextCursor: next }),
  };
}

export const TEMPLATES = [
  {
    name: 'agent',
    uriTemplate: 'bmad://agents/{agent}',
    title: 'Agent by name',
    description: 'The main file of an agent',
  },
  {
    name: 'workflow',
    uriTemplate: 'bmad://workflows/{workflow}',
    title: 'Workflow by name',
    description: 'The main file of a workflow',
  },
  {
    name: 'knowledge',
    uriTemplate: 'bmad://knowledge/{knowledge}',
    title: 'Knowledge by name',
    description: 'One piece of knowledge',
  },
  {
    name: 'memories',
    uriTemplate: 'bmad://memory/{memory}',
    title: 'Memories by type',
    description:
      'What the project remembers: shared-context, decisions, agent-learnings, failures or stories',
  },
  {
    name: 'memory',
    uriTemplate: 'bmad://memory/{memory}/{memory_id}',
    title: 'Memory by id',
    description: 'One memory, with its earlier versions',
  },
  {
    name: 'runs',
    uriTemplate: 'bmad://runs/{branch}',
    title: 'Session branch by name',
    description: 'The runs of workflows in a session branch',
  },
  {
    name: 'run',
    uriTemplate: 'bmad://runs/{branch}/{run_id}',
    title: 'Run by id',
    description: 'One run of a workflow: state, steps, artefacts',
  },
  {
    name: 'project-agent',
    uriTemplate: 'bmad://project/agents/{project_agent}',
    title: 'Learnings of an agent',
    description: 'What an agent has learned in this project',
  },
  {
    name: 'task',
    uriTemplate: 'bmad://tasks/{task_id}',
    title: 'Task by id',
    description: 'One task for a sub-agent: state, brief, result',
  },
  {
    name: 'contract',
    uriTemplate: 'bmad://contracts/{contract_id}',
    title: 'Delivery contract by id',
    description: 'One delivery contract, with what is still missing',
  },
  {
    name: 'file',
    uriTemplate: 'bmad://{+path}',
    title: 'File by path',
    description: 'Any file of the BMAD content',
  },
  {
    name: 'skill',
    uriTemplate: 'skill://{+skill}',
    title: 'File of a skill',
    description: 'Any file of an agent or workflow, as a skill',
  },
] as const;

export function templateList(): ListResourceTemplatesResult {
  return { resourceTemplates: [...TEMPLATES] };
}

export async function resourceRead(uri: string, context: Context, call: Call): Promise<ReadResourceResult> {
  type File = { mimeType: string; text?: string; blob?: string; origin?: Record<string, string> };
  const { mimeType, text, blob, origin } = dataOf<File>(await ask('read_resource', { uri }, context, call));
  // The skills extension keeps the keys of its resources to its own prefix.
  const about = {
    uri,
    mimeType,
    ...(origin === undefined || uri.startsWith('skill:') ? {} : { _meta: { 'bmad/origin': origin } }),
  };
  return { contents: [blob === undefined ? { ...about, text: text ?? '' } : { ...about, blob }] };
}
