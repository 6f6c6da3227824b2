// Written by "npm run update" from the declarations of the operations. Do not edit.
import type { AnyOperation } from './operation.ts';
import { activate } from './activation/activate.ts';
import { findAgentTool, listAgentTools } from './activation/agent-tools.ts';
import { compileContext } from './activation/compile-context.ts';
import { bmadWorkflow, executeTask, executeWorkflow } from './activation/start-work.ts';
import { bmadResources } from './catalogue/bmad-resources.ts';
import { describeAgents } from './catalogue/describe-agents.ts';
import { explain } from './catalogue/explain.ts';
import { getKnowledge } from './catalogue/get-knowledge.ts';
import { listFiles } from './catalogue/list-files.ts';
import { list } from './catalogue/list.ts';
import { load } from './catalogue/load.ts';
import { preferOrigin } from './catalogue/prefer.ts';
import { queryRecords } from './catalogue/query-records.ts';
import { read } from './catalogue/read.ts';
import { search } from './catalogue/search.ts';
import { listTasks, listWorkflows } from './catalogue/work-lists.ts';
import { getWorkflowDetails } from './catalogue/workflow-details.ts';
import { appData, askDecision, showBoard, showCatalogue } from './client/app-views.ts';
import { complete } from './client/complete.ts';
import { listMark } from './client/list-mark.ts';
import { findPrompt, listPrompts } from './client/prompts.ts';
import { listResources, readResource } from './client/resources.ts';
import { getSkill, listSkillFolder, listSkills } from './client/skills.ts';
import { searchCodebase } from './codebase/search-codebase.ts';
import { listReceipts, verifyReceipts } from './completion/receipts.ts';
import { runCompletionContract } from './completion/run-completion-contract.ts';
import { trust } from './completion/trust.ts';
import { delegateToAgent } from './delegation/delegate-to-agent.ts';
import { sourcesAdd } from './git-sources/sources-add.ts';
import { sourcesApprove } from './git-sources/sources-approve.ts';
import { sourcesClear } from './git-sources/sources-clear.ts';
import { sourcesDiff } from './git-sources/sources-diff.ts';
import { sourcesList } from './git-sources/sources-list.ts';
import { sourcesRemove } from './git-sources/sources-remove.ts';
import { sourcesResolve } from './git-sources/sources-resolve.ts';
import { sourcesUpdate } from './git-sources/sources-update.ts';
import { createDeliveryContract } from './handover/create-delivery-contract.ts';
import { deliveryAccept, deliveryList, deliveryReject, deliveryValidate } from './handover/handovers.ts';
import { inbox } from './inbox/inbox.ts';
import { getAgentMemory } from './memory/get-agent-memory.ts';
import { logDecision, logLearning } from './memory/log-memory.ts';
import { manageMemories } from './memory/manage-memories.ts';
import { memoryForget, memoryKeepBoth, memoryRestore, memorySupersede, memoryUpdate } from './memory/memory-change.ts';
import { memoryPairs } from './memory/memory-pairs.ts';
import { memoryPurge } from './memory/memory-purge.ts';
import { memoryCount, memoryGet, memoryList, memoryStats } from './memory/memory-read.ts';
import { memoryStatus } from './memory/memory-status.ts';
import { memoryExport, memoryImport, memoryReindex } from './memory/memory-transfer.ts';
import { recallStructured } from './memory/recall-structured.ts';
import { rememberStructured } from './memory/remember-structured.ts';
import { checkFailures } from './project/check-failures.ts';
import { getFailureMuseum } from './project/get-failure-museum.ts';
import { getProjectContext } from './project/get-project-context.ts';
import { logFailure } from './project/log-failure.ts';
import { completeHandoff, logHandoff } from './project/log-handoff.ts';
import { memlog } from './project/memlog.ts';
import { moveState } from './project/move-state.ts';
import { next } from './project/next.ts';
import { projectState } from './project/project-state.ts';
import { reconcileLedgers } from './project/reconcile.ts';
import { sprintPlan } from './project/sprint-plan.ts';
import { stateShare } from './project/state-share.ts';
import { storyBrief } from './project/story-brief.ts';
import { storyHistory } from './project/story-history.ts';
import { storyStatus } from './project/story-status.ts';
import { listSessions } from './runs/list-sessions.ts';
import { runOpen } from './runs/run-open.ts';
import { runCheckpoint, runFinish, runRepair } from './runs/run-progress.ts';
import { runResume } from './runs/run-resume.ts';
import { saveSession } from './runs/save-session.ts';
import { sessionArchive, sessionCreate, sessionDiff, sessionMerge, sessionSwitch } from './runs/session-branches.ts';
import { getWorkflowStatus } from './runs/workflow-status.ts';
import { configShow } from './server/config-show.ts';
import { doctor } from './server/doctor.ts';
import { hostsShow } from './server/hosts-show.ts';
import { refresh } from './server/refresh.ts';
import { remove } from './server/remove.ts';
import { setup } from './server/setup.ts';
import { usageClear, usageShow } from './server/usage.ts';
import { cacheClear, warm } from './server/warm.ts';
import { outsideTaskAdd, outsideTaskCancel } from './tasks/outside-task-change.ts';
import { outsideTaskList, outsideTaskShow } from './tasks/outside-task-read.ts';
import { spawnSubagentTask } from './tasks/spawn-subagent-task.ts';
import { taskApprove, taskApproveAll, taskRefuse } from './tasks/task-decide.ts';
import { taskMerge } from './tasks/task-merge.ts';
import { taskList, taskShow } from './tasks/task-read.ts';
import { taskCancel, taskClaim, taskComplete, taskFail, taskRenew } from './tasks/task-work.ts';
import { bmad } from './unified/bmad.ts';
import { manageProject } from './unified/manage-project.ts';

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
  cacheClear,
  warm,
  remove,
  setup,
  hostsShow,
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
  checkFailures,
  logDecision,
  logLearning,
  logFailure,
  logHandoff,
  completeHandoff,
  saveSession,
  runOpen,
  runCheckpoint,
  runResume,
  runFinish,
  runRepair,
  sessionCreate,
  sessionSwitch,
  sessionDiff,
  sessionMerge,
  sessionArchive,
  reconcileLedgers,
  verifyReceipts,
  listReceipts,
  trust,
  taskList,
  taskShow,
  taskClaim,
  taskRenew,
  taskComplete,
  taskFail,
  taskCancel,
  taskMerge,
  deliveryList,
  deliveryValidate,
  deliveryAccept,
  deliveryReject,
  taskApprove,
  taskRefuse,
  outsideTaskAdd,
  outsideTaskCancel,
  outsideTaskList,
  outsideTaskShow,
  taskApproveAll,
  moveState,
  projectState,
  storyHistory,
  memlog,
  sprintPlan,
  storyStatus,
  storyBrief,
  stateShare,
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
  memoryKeepBoth,
  memoryPairs,
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
  listMark,
  showBoard,
  showCatalogue,
  askDecision,
  appData,
  load,
  describeAgents,
  listFiles,
  queryRecords,
  preferOrigin,
  sourcesResolve,
  inbox,
];
