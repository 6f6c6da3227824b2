/** The tools that users see, in the order they see them. One that is added or renamed is a change of this list. */

export const PROJECT_TOOLS = [
  'get_project_context',
  'get_agent_memory',
  'run_completion_contract',
  'get_workflow_status',
  'list_sessions',
  'get_failure_museum',
  'spawn_subagent_task',
  'delegate_to_agent',
  'create_delivery_contract',
  'manage_project',
] as const;

const MEMORY_TOOLS = [
  'remember_structured',
  'recall_structured',
  'manage_memories',
  'search_codebase',
] as const;

export const DEFAULT_TOOLS = ['bmad', ...PROJECT_TOOLS, ...MEMORY_TOOLS] as const;

/** Those of the default that can be called where nothing may be written: two of them then only hand over to reads. */
export const READING_TOOLS = [
  'bmad',
  'get_project_context',
  'get_agent_memory',
  'get_workflow_status',
  'list_sessions',
  'get_failure_museum',
  'delegate_to_agent',
  'manage_project',
  'recall_structured',
  'manage_memories',
  'search_codebase',
] as const;
