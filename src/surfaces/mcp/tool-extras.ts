import type { ReadResourceResult, Tool } from '@modelcontextprotocol/server';
import * as z from 'zod';
import type { Context } from '../../operations/context.ts';
import type { AnyOperation } from '../../operations/operation.ts';
import { APP_TOOLS_SHOWN } from './app-tools.prepared.ts';
import { APP_TYPE } from './early.ts';
import type { AdvertisedSchema } from './schema.ts';

/** One page for all views; which of them it shows follows from the tool that was called. */
export const APP_URI = 'ui://bmad/board.html';

/** The tools of the app among those that are offered; `isForApp` are those that only the app itself calls. */
export function appTools(isOffered: (name: string) => boolean, isForApp: (name: string) => boolean): Tool[] {
  return APP_TOOLS_SHOWN.filter(({ name }) => isOffered(name)).map((tool) => ({
    ...tool,
    _meta: {
      ui: isForApp(tool.name)
        ? { visibility: ['app'] }
        : { resourceUri: APP_URI, visibility: ['model', 'app'] },
    },
  }));
}

/** The page itself. It names no other place, so it gets no leave to reach one. */
export async function appContents({ appPage }: Context): Promise<ReadResourceResult> {
  const contents = {
    uri: APP_URI,
    mimeType: APP_TYPE,
    text: await appPage(),
    _meta: { ui: { csp: { connectDomains: [], resourceDomains: [] }, prefersBorder: true } },
  };
  return { contents: [contents] };
}

/** What an answer says beside its data. Hosts that are given both show the data alone. */
const SAID = 'said';
const SAID_SCHEMA = {
  type: 'string',
  description: 'What the answer says first, its note and its next steps',
};
const FIRST_LINE = 300;

/** The data of an answer with the sentences that a reader must not miss. */
export function structuredAnswer(
  data: unknown,
  body: string,
  ...notes: readonly string[]
): Record<string, unknown> {
  const [first = ''] = body.split('\n', 1);
  const said = [first.slice(0, FIRST_LINE), ...notes].filter(Boolean).join('\n');
  return { ...(data as Record<string, unknown>), [SAID]: said };
}

/** The schema of that; a tool that stands for several operations answers with the data of the one that was meant. */
export function outputSchemaOf({ output, route }: AnyOperation): AdvertisedSchema {
  if (route !== undefined) return { type: 'object', properties: { [SAID]: SAID_SCHEMA } };
  const whole = z.toJSONSchema(output, { io: 'output', unrepresentable: 'any' });
  const { $schema: _dialect, additionalProperties: _strict, ...schema } = whole;
  return { ...schema, type: 'object', properties: { ...schema.properties, [SAID]: SAID_SCHEMA } };
}

/**
 * Words with which people ask for what a tool does, for a host that searches its tools before it shows them. The tool
 * `bmad` has none: it is always shown.
 */
const HINTS: Readonly<Partial<Record<string, string>>> = {
  get_project_context: 'tech stack, team, recent decisions and architecture of this project',
  get_agent_memory: 'what an agent has learnt in this project',
  run_completion_contract: 'is it done: run tests, lint and build, prove the work is finished',
  get_workflow_status: 'progress of a workflow run, which step comes next, resume',
  list_sessions: 'open session branches and their runs',
  get_failure_museum: 'past mistakes and lessons, what went wrong before',
  spawn_subagent_task: 'queue work for a sub-agent',
  delegate_to_agent: 'second opinion from the architect, developer or another agent',
  create_delivery_contract: 'hand work over to another team, list of what is delivered',
  manage_project: 'tasks, runs, sessions, hand-offs and decisions: add, claim, finish, log',
  remember_structured: 'remember a decision, a learning or a failure',
  recall_structured: 'what did we decide, recall memories and decisions',
  manage_memories: 'correct, forget, restore or count memories',
  search_codebase: 'find code by meaning, where is this implemented',
  list_workflows: 'which BMAD workflows exist, by phase',
  get_workflow_details: 'steps, inputs and outputs of a workflow',
  execute_workflow: 'start a workflow: PRD, story, sprint, review',
  list_tasks: 'which BMAD tasks exist',
  execute_task: 'start a BMAD task',
  get_knowledge: 'knowledge of a domain, such as testing',
  'bmad-workflow': 'start a BMAD workflow with a context',
  'bmad-resources': 'read and list files, agents, modules and workflows of BMAD',
};

export function withSearchHints(tools: readonly Tool[]): Tool[] {
  return tools.map((tool) => {
    const hint = HINTS[tool.name];
    return hint === undefined ? tool : { ...tool, _meta: { ...tool._meta, 'anthropic/searchHint': hint } };
  });
}
