import { activate } from './activation/activate.ts';
import { findAgentTool, listAgentTools } from './activation/agent-tools.ts';
import { bmadResources } from './catalogue/bmad-resources.ts';
import { bmad } from './unified/bmad.ts';
import { compileContext } from './activation/compile-context.ts';
import { complete } from './client/complete.ts';
import { configShow } from './server/config-show.ts';
import { createDeliveryContract } from './handover/create-delivery-contract.ts';
import { delegateToAgent } from './delegation/delegate-to-agent.ts';
import { describeAgents } from './catalogue/describe-agents.ts';
import { doctor } from './server/doctor.ts';
import { explain } from './catalogue/explain.ts';
import { getAgentMemory } from './memory/get-agent-memory.ts';
import { getFailureMuseum } from './project/get-failure-museum.ts';
import { getKnowledge } from './catalogue/get-knowledge.ts';
import { listSessions } from './runs/list-sessions.ts';
import { getProjectContext } from './project/get-project-context.ts';
import { listFiles } from './catalogue/list-files.ts';
import { list } from './catalogue/list.ts';
import { load } from './catalogue/load.ts';
import { manageMemories } from './memory/manage-memories.ts';
import { COMPANIONS, manageProject } from './unified/manage-project.ts';
import { memoryForget, memoryRestore, memorySupersede, memoryUpdate } from './memory/memory-change.ts';
import { memoryPurge } from './memory/memory-purge.ts';
import { memoryCount, memoryGet, memoryList, memoryStats } from './memory/memory-read.ts';
import { memoryStatus } from './memory/memory-status.ts';
import { memoryExport, memoryImport, memoryMove, memoryReindex } from './memory/memory-transfer.ts';
import { moveState } from './project/move-state.ts';
import { next } from './project/next.ts';
import type { AnyOperation } from './operation.ts';
import { findPrompt, listPrompts } from './client/prompts.ts';
import { read } from './catalogue/read.ts';
import { recallStructured } from './memory/recall-structured.ts';
import { rememberStructured } from './memory/remember-structured.ts';
import { listResources, readResource } from './client/resources.ts';
import { refresh } from './server/refresh.ts';
import { runCompletionContract } from './completion/run-completion-contract.ts';
import { search } from './catalogue/search.ts';
import { searchCodebase } from './codebase/search-codebase.ts';
import { sourcesAdd } from './git-sources/sources-add.ts';
import { sourcesApprove } from './git-sources/sources-approve.ts';
import { sourcesClear } from './git-sources/sources-clear.ts';
import { sourcesDiff } from './git-sources/sources-diff.ts';
import { sourcesList } from './git-sources/sources-list.ts';
import { sourcesRemove } from './git-sources/sources-remove.ts';
import { sourcesResolve } from './git-sources/sources-resolve.ts';
import { sourcesUpdate } from './git-sources/sources-update.ts';
import { spawnSubagentTask } from './tasks/spawn-subagent-task.ts';
import { bmadWorkflow, executeTask, executeWorkflow } from './activation/start-work.ts';
import { taskApprove, taskRefuse } from './tasks/task-decide.ts';
import { listTasks, listWorkflows } from './catalogue/work-lists.ts';
import { usageClear, usageShow } from './server/usage.ts';
import { getWorkflowStatus } from './runs/workflow-status.ts';
import { getWorkflowDetails } from './catalogue/workflow-details.ts';
import { getSkill, listSkillFolder, listSkills } from './client/skills.ts';

/** Every operation, in the order users see them. */
export const operations: readonly AnyOperation[] = [
  bmad,
  list,
  search,
  read,
  activate,
  compileContext,
  next,
  explain,
  doctor,
  refresh,
  configShow,
  usageShow,
  usageClear,
  sourcesList,
  sourcesAdd,
  sourcesRemove,
  sourcesUpdate,
  sourcesDiff,
  sourcesApprove,
  sourcesClear,
  getProjectContext,
  getAgentMemory,
  runCompletionContract,
  getWorkflowStatus,
  listSessions,
  getFailureMuseum,
  spawnSubagentTask,
  delegateToAgent,
  createDeliveryContract,
  manageProject,
  ...COMPANIONS,
  taskApprove,
  taskRefuse,
  moveState,
  rememberStructured,
  recallStructured,
  manageMemories,
  searchCodebase,
  memoryList,
  memoryGet,
  memoryUpdate,
  memoryForget,
  memoryRestore,
  memorySupersede,
  memoryPurge,
  memoryCount,
  memoryStats,
  memoryStatus,
  memoryExport,
  memoryImport,
  memoryReindex,
  memoryMove,
  listWorkflows,
  getWorkflowDetails,
  executeWorkflow,
  listTasks,
  executeTask,
  getKnowledge,
  bmadWorkflow,
  bmadResources,
  listAgentTools,
  findAgentTool,
  listPrompts,
  findPrompt,
  listResources,
  readResource,
  listSkills,
  getSkill,
  listSkillFolder,
  complete,
  load,
  describeAgents,
  listFiles,
  sourcesResolve,
];

export {
  activate,
  bmad,
  describeAgents,
  list,
  listFiles,
  load,
  readResource,
  search,
  sourcesClear,
  sourcesList,
  sourcesResolve,
};
