import * as z from 'zod';
import { defineOperation } from '../operation.ts';
import { actionTool, HELP } from '../unified/action-tool.ts';

const { actions, route, run, render } = actionTool('manage_memories', { briefly: false });

/** One tool for everything about memories that is seldom needed. */
export const manageMemories = defineOperation({
  name: 'manage_memories',
  title: 'Manage the memories',
  description:
    'List, count, read and change memories. args: get, forget, restore {id}; update {id, text}; supersede {id, by}; keep_both {id, other}; list, count {type, agent, tags}. "help" lists all.',
  effect: 'write',
  toolset: 'memory',
  gathers: 'args',
  input: z.strictObject({
    action: z.enum([HELP, ...actions]).describe('What to do'),
    args: z.record(z.string(), z.unknown()).default({}).describe('Arguments of the action'),
  }),
  output: z.object({ action: z.enum([HELP, ...actions]), result: z.record(z.string(), z.unknown()) }),
  route,
  run,
  render,
});
