import { OFFERED } from '../../src/operations/offered.ts';
import type { Toolset } from '../../src/operations/toolsets.ts';

/** The tools of a set as their operations declare it. The snapshot of the surface holds their names. */
const toolsOf = (wanted: Toolset): string[] =>
  Object.entries(OFFERED)
    .filter(([, offer]) => offer?.toolset === wanted)
    .map(([name]) => name);

export const PROJECT_TOOLS = toolsOf('project');
export const DEFAULT_TOOLS = [...toolsOf('bmad'), ...PROJECT_TOOLS, ...toolsOf('memory')];

/** Those of the default that can be called where nothing may be written: a promise, so it is written out. */
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
