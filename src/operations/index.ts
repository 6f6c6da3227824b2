import { activate } from './activate.ts';
import { findAgentTool, listAgentTools } from './agent-tools.ts';
import { bmadResources } from './bmad-resources.ts';
import { bmad } from './bmad.ts';
import { compileContext } from './compile-context.ts';
import { complete } from './complete.ts';
import { configShow } from './config-show.ts';
import { createDeliveryContract } from './create-delivery-contract.ts';
import { delegateToAgent } from './delegate-to-agent.ts';
import { describeAgents } from './describe-agents.ts';
import { doctor } from './doctor.ts';
import { explain } from './explain.ts';
import { getAgentMemory } from './get-agent-memory.ts';
import { getFailureMuseum } from './get-failure-museum.ts';
import { getKnowledge } from './get-knowledge.ts';
import { listSessions } from './list-sessions.ts';
import { getProjectContext } from './get-project-context.ts';
import { listFiles } from './list-files.ts';
import { list } from './list.ts';
import { load } from './load.ts';
import { manageMemories } from './manage-memories.ts';
import { COMPANIONS, manageProject } from './manage-project.ts';
import { memoryForget, memoryRestore, memorySupersede, memoryUpdate } from './memory-change.ts';
import { memoryPurge } from './memory-purge.ts';
import { memoryCount, memoryGet, memoryList, memoryStats } from './memory-read.ts';
import { memoryStatus } from './memory-status.ts';
import { memoryExport, memoryImport, memoryMove, memoryReindex } from './memory-transfer.ts';
import { moveState } from './move-state.ts';
import { next } from './next.ts';
import type { AnyOperation } from './operation.ts';
import { findPrompt, listPrompts } from './prompts.ts';
import { read } from './read.ts';
import { recallStructured } from './recall-structured.ts';
import { rememberStructured } from './remember-structured.ts';
import { listResources, readResource } from './resources.ts';
import { refresh } from './refresh.ts';
import { runCompletionContract } from './run-completion-contract.ts';
import { search } from './search.ts';
import { searchCodebase } from './search-codebase.ts';
import { sourcesAdd } from './sources-add.ts';
import { sourcesApprove } from './sources-approve.ts';
import { sourcesClear } from './sources-clear.ts';
import { sourcesDiff } from './sources-diff.ts';
import { sourcesList } from './sources-list.ts';
import { sourcesRemove } from './sources-remove.ts';
import { sourcesResolve } from './sources-resolve.ts';
import { sourcesUpdate } from './sources-update.ts';
import { spawnSubagentTask } from './spawn-subagent-task.ts';
import { bmadWorkflow, executeTask, executeWorkflow } from './start-work.ts';
import { taskApprove, taskRefuse } from './task-decide.ts';
import { listTasks, listWorkflows } from './work-lists.ts';
import { usageClear, usageShow } from './usage.ts';
import { getWorkflowStatus } from './workflow-status.ts';
import { getWorkflowDetails } from './workflow-details.ts';
import { getSkill, listSkillFolder, listSkills } from './skills.ts';

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
