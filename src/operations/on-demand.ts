import type { AnyOperation } from './operation.ts';

/**
 * The operations that clients of the server reach, each loaded when it is first called: most sessions call few of them
 * or none. Their names and descriptions are known before (declared.prepared.ts); index.ts has all of them at once, for
 * the command line.
 */
const REACHABLE = {
  bmad: async () => (await import('./unified/bmad.ts')).bmad,
  execute: async () => (await import('./activation/activate.ts')).activate,
  get_project_context: async () => (await import('./project/get-project-context.ts')).getProjectContext,
  get_agent_memory: async () => (await import('./memory/get-agent-memory.ts')).getAgentMemory,
  run_completion_contract: async () =>
    (await import('./completion/run-completion-contract.ts')).runCompletionContract,
  get_workflow_status: async () => (await import('./runs/workflow-status.ts')).getWorkflowStatus,
  list_sessions: async () => (await import('./runs/list-sessions.ts')).listSessions,
  get_failure_museum: async () => (await import('./project/get-failure-museum.ts')).getFailureMuseum,
  spawn_subagent_task: async () => (await import('./tasks/spawn-subagent-task.ts')).spawnSubagentTask,
  delegate_to_agent: async () => (await import('./delegation/delegate-to-agent.ts')).delegateToAgent,
  create_delivery_contract: async () =>
    (await import('./handover/create-delivery-contract.ts')).createDeliveryContract,
  manage_project: async () => (await import('./unified/manage-project.ts')).manageProject,
  remember_structured: async () => (await import('./memory/remember-structured.ts')).rememberStructured,
  recall_structured: async () => (await import('./memory/recall-structured.ts')).recallStructured,
  manage_memories: async () => (await import('./memory/manage-memories.ts')).manageMemories,
  search_codebase: async () => (await import('./codebase/search-codebase.ts')).searchCodebase,
  list_workflows: async () => (await import('./catalogue/work-lists.ts')).listWorkflows,
  get_workflow_details: async () => (await import('./catalogue/workflow-details.ts')).getWorkflowDetails,
  execute_workflow: async () => (await import('./activation/start-work.ts')).executeWorkflow,
  list_tasks: async () => (await import('./catalogue/work-lists.ts')).listTasks,
  execute_task: async () => (await import('./activation/start-work.ts')).executeTask,
  get_knowledge: async () => (await import('./catalogue/get-knowledge.ts')).getKnowledge,
  'bmad-workflow': async () => (await import('./activation/start-work.ts')).bmadWorkflow,
  'bmad-resources': async () => (await import('./catalogue/bmad-resources.ts')).bmadResources,
  list_agent_tools: async () => (await import('./activation/agent-tools.ts')).listAgentTools,
  find_agent_tool: async () => (await import('./activation/agent-tools.ts')).findAgentTool,
  list_prompts: async () => (await import('./client/prompts.ts')).listPrompts,
  find_prompt: async () => (await import('./client/prompts.ts')).findPrompt,
  list_resources: async () => (await import('./client/resources.ts')).listResources,
  read_resource: async () => (await import('./client/resources.ts')).readResource,
  list_skills: async () => (await import('./client/skills.ts')).listSkills,
  get_skill: async () => (await import('./client/skills.ts')).getSkill,
  list_skill_folder: async () => (await import('./client/skills.ts')).listSkillFolder,
  complete: async () => (await import('./client/complete.ts')).complete,
} satisfies Record<string, () => Promise<AnyOperation>>;

export type ReachableName = keyof typeof REACHABLE;

export const REACHABLE_NAMES = Object.keys(REACHABLE) as readonly ReachableName[];

export async function loadOperation(name: string): Promise<AnyOperation> {
  if (!isReachable(name)) throw new Error(`There is no operation ${name} in operations/on-demand.ts.`);
  return REACHABLE[name]();
}

function isReachable(name: string): name is ReachableName {
  return Object.hasOwn(REACHABLE, name);
}

/** What is made for the tools of agents, which come from the content. */
export const loadAgentTools = (): Promise<typeof import('./activation/agent-tools.ts')> =>
  import('./activation/agent-tools.ts');
