import * as z from 'zod';
import { defineOperation } from '../operation.ts';
import { actionTool } from './action-tool.ts';

const { route, run, render } = actionTool('manage_project', { briefly: true });

/** One tool for what goes with the tools of the project and is needed less often. */
export const manageProject = defineOperation({
  name: 'manage_project',
  title: 'Manage the project state',
  description:
    'Everything else about the project’s state: claim and complete tasks, open and resume runs, log decisions, learnings and failures, hand work over (log_handoff), save a session. "help" lists the actions; with args {action} the arguments of one.',
  effect: 'write',
  toolset: 'project',
  gathers: 'args',
  synonyms: { arguments: 'args', params: 'args' },
  input: z.strictObject({
    action: z.string().min(1).max(100).describe('help, task_claim, run_checkpoint, log_decision, …'),
    args: z.record(z.string(), z.unknown()).default({}).describe('Arguments of the action'),
  }),
  output: z.object({ action: z.string(), result: z.record(z.string(), z.unknown()) }),
  route,
  run,
  render,
});
