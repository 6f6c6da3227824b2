import type { Tool } from '@modelcontextprotocol/server';

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
