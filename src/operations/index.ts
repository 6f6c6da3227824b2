// Written by "npm run update" from the declarations of the operations. Do not edit.
import type { AnyOperation } from './operation.ts';
import { activate, bmadWorkflow, executeTask, executeWorkflow } from './activation/activate.ts';
import { findAgentTool, listAgentTools } from './activation/agent-tools.ts';
import { compileContext } from './activation/compile-context.ts';
import { bmadResources, getKnowledge, getWorkflowDetails, listTasks, listWorkflows } from './catalogue/details.ts';
import { explain, preferOrigin } from './catalogue/explain.ts';
import { list } from './catalogue/list.ts';
import { read } from './catalogue/read.ts';
import { describeAgents, listFiles, load, queryRecords } from './catalogue/records.ts';
import { search } from './catalogue/search.ts';
import { appData, askDecision, showBoard, showCatalogue } from './client/app-views.ts';
import { complete, findPrompt, listPrompts } from './client/prompts.ts';
import { listMark, listResources, readResource } from './client/resources.ts';
import { getSkill, listSkillFolder, listSkills } from './client/skills.ts';
import { searchCodebase } from './codebase/search-codebase.ts';
import { listReceipts, receiptShow, runCompletionContract, verifyReceipts } from './completion/completion.ts';
import { trust } from './completion/trust.ts';
import { delegateToAgent } from './delegation/delegate-to-agent.ts';
import { sourcesApprove, sourcesDiff } from './git-sources/sources-review.ts';
import { sourcesAdd, sourcesClear, sourcesList, sourcesRemove, sourcesResolve, sourcesUpdate } from './git-sources/sources.ts';
import { createDeliveryContract, deliveryAccept, deliveryList, deliveryReject, deliveryValidate } from './handover/handovers.ts';
import { activity } from './inbox/activity.ts';
import { inbox } from './inbox/inbox.ts';
import { getAgentMemory } from './memory/get-agent-memory.ts';
import { manageMemories, memoryCount, memoryForget, memoryGet, memoryKeepBoth, memoryList, memoryRestore, memoryStats, memoryStatus, memorySupersede, memoryUpdate } from './memory/memory-operations.ts';
import { memoryExport, memoryImport, memoryPairs, memoryPurge, memoryReindex } from './memory/memory-upkeep.ts';
import { recallStructured } from './memory/recall-structured.ts';
import { logDecision, logLearning, rememberStructured } from './memory/remember.ts';
import { checkFailures, getFailureMuseum, logFailure } from './project/failures.ts';
import { reconcileLedgers, sprintPlan } from './project/ledgers.ts';
import { completeHandoff, logHandoff, memlog } from './project/logs.ts';
import { next } from './project/next.ts';
import { getProjectContext } from './project/project-context.ts';
import { stateCheck, stateMigrate, stateMove, stateShare, stateShow } from './project/state-sharing.ts';
import { moveState, projectState } from './project/state.ts';
import { storyBrief, storyHistory, storyShow, storyStatus } from './project/stories.ts';
import { runCheckpoint, runFinish, runOpen, runRepair, runResume, saveSession } from './runs/run-operations.ts';
import { listSessions, sessionArchive, sessionCreate, sessionDiff, sessionMerge, sessionSwitch } from './runs/sessions.ts';
import { getWorkflowStatus } from './runs/workflow-status.ts';
import { auditShow } from './server/audit.ts';
import { configShow } from './server/config-show.ts';
import { doctor } from './server/doctor.ts';
import { cacheClear, usageClear, usageShow, warm } from './server/kept.ts';
import { refresh } from './server/refresh.ts';
import { hostsShow, remove, setup } from './server/setup.ts';
import { outsideTaskAdd, outsideTaskCancel, outsideTaskList, outsideTaskShow } from './tasks/outside-tasks.ts';
import { taskApprove, taskApproveAll, taskRefuse, taskWithdraw } from './tasks/task-decide.ts';
import { taskCancel, taskClaim, taskComplete, taskFail, taskRenew } from './tasks/task-work.ts';
import { spawnSubagentTask, taskList, taskMerge, taskShow } from './tasks/tasks.ts';
import { manageProject } from './unified/action-tool.ts';
import { bmad } from './unified/bmad.ts';

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
  auditShow,
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
  receiptShow,
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
  taskWithdraw,
  moveState,
  projectState,
  storyHistory,
  memlog,
  sprintPlan,
  storyStatus,
  storyBrief,
  stateShare,
  storyShow,
  stateCheck,
  stateMigrate,
  stateMove,
  stateShow,
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
  activity,
];
