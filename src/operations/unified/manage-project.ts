import * as z from 'zod';
import { BmadError, quoted } from '../../base/errors.ts';
import { nearest } from '../../base/text/suggest.ts';
import { argumentsOf } from './action-help.ts';
import { checkFailures } from '../project/check-failures.ts';
import { listReceipts, verifyReceipts } from '../completion/receipts.ts';
import { deliveryAccept, deliveryList, deliveryReject, deliveryValidate } from '../handover/handovers.ts';
import { handOver } from '../execute.ts';
import { logFailure } from '../project/log-failure.ts';
import { completeHandoff, logHandoff } from '../project/log-handoff.ts';
import { logDecision, logLearning } from '../memory/log-memory.ts';
import { defineOperation, type AnyOperation } from '../operation.ts';
import { reconcileLedgers } from '../project/reconcile.ts';
import { runOpen } from '../runs/run-open.ts';
import { runCheckpoint, runFinish, runRepair, runResume } from '../runs/run-progress.ts';
import { saveSession } from '../runs/save-session.ts';
import {
  sessionArchive,
  sessionCreate,
  sessionDiff,
  sessionMerge,
  sessionSwitch,
} from '../runs/session-branches.ts';
import { taskMerge } from '../tasks/task-merge.ts';
import { taskList, taskShow } from '../tasks/task-read.ts';
import { taskCancel, taskClaim, taskComplete, taskFail, taskRenew } from '../tasks/task-work.ts';

/**
 * What goes with the tools of the project and is needed less often. Decisions that are a person's are not among them:
 * those are commands.
 */
export const COMPANIONS: readonly AnyOperation[] = [
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
];
const BY_NAME = new Map(COMPANIONS.map((operation) => [operation.name, operation]));
/** People and models also say the words of the command: `contract_verify`, `log_session`. */
const BY_COMMAND = new Map(
  COMPANIONS.flatMap((operation) =>
    operation.command === undefined ? [] : [[operation.command.replaceAll(/[ -]/g, '_'), operation] as const],
  ),
);
const TOOLS = new Set([
  'get_project_context',
  'get_agent_memory',
  'get_workflow_status',
  'list_sessions',
  'get_failure_museum',
  'run_completion_contract',
  'spawn_subagent_task',
  'delegate_to_agent',
  'create_delivery_contract',
]);
const HELP = 'help';

/** One tool for all of them: the schema of each is told when asked for, and costs nothing before. */
export const manageProject = defineOperation({
  name: 'manage_project',
  title: 'Manage the project state',
  description:
    'Everything else about the project’s state. "help" lists the actions; with args {action} the arguments of one.',
  effect: 'write',
  toolset: 'project',
  handsOver: true,
  gathers: 'args',
  input: z.strictObject({
    action: z.string().min(1).max(100).describe('help, task_claim, run_checkpoint, log_decision, …'),
    args: z.record(z.string(), z.unknown()).default({}).describe('Arguments of the action'),
  }),
  output: z.object({ action: z.string(), result: z.record(z.string(), z.unknown()) }),
  async run({ action, args }, context, call) {
    if (action === HELP) return { action, result: help(args['action']) };
    return { action, result: await handOver(companion(action), args, {}, context, call) };
  },
  render: ({ action, result }) =>
    action === HELP ? { body: String(result['text']) } : companion(action).render(result),
  failed: ({ action, result }) => action !== HELP && (companion(action).failed?.(result) ?? false),
});

function companion(name: string): AnyOperation {
  const found = BY_NAME.get(name) ?? BY_COMMAND.get(name);
  if (found !== undefined) return found;
  const isTool = TOOLS.has(name);
  throw new BmadError(
    'invalid_input',
    isTool
      ? `manage_project: ${quoted(name)} is a tool of its own, not an action.`
      : `manage_project: there is no action ${quoted(name)}.`,
    {
      subject: name,
      suggestions: isTool ? [] : nearest(name, [...BY_NAME.keys(), ...BY_COMMAND.keys()]),
      hint: isTool ? `Call ${name} itself.` : `Actions: ${HELP}, ${[...BY_NAME.keys()].join(', ')}.`,
    },
  );
}

function help(name: unknown): { text: string } {
  return {
    text:
      typeof name === 'string'
        ? argumentsOf(companion(name))
        : COMPANIONS.map((each) => `- ${each.name}: ${each.description}`).join('\n'),
  };
}
