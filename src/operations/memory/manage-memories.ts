import * as z from 'zod';
import { BmadError, quoted } from '../../base/errors.ts';
import { nearest } from '../../base/text/suggest.ts';
import { argumentsOf } from '../unified/action-help.ts';
import { handOver } from '../execute.ts';
import { memoryForget, memoryRestore, memorySupersede, memoryUpdate } from './memory-change.ts';
import { memoryCount, memoryGet, memoryList, memoryStats } from './memory-read.ts';
import { memoryStatus } from './memory-status.ts';
import { defineOperation, type AnyOperation } from '../operation.ts';

const ACTIONS = {
  list: memoryList,
  get: memoryGet,
  update: memoryUpdate,
  forget: memoryForget,
  restore: memoryRestore,
  supersede: memorySupersede,
  count: memoryCount,
  stats: memoryStats,
  status: memoryStatus,
} as const satisfies Record<string, AnyOperation>;
type Action = keyof typeof ACTIONS;

/** The operations that it hands over to. */
export const MEMORY_ACTIONS: readonly AnyOperation[] = Object.values(ACTIONS);

const NAMES = Object.keys(ACTIONS) as [Action, ...Action[]];

const HELP = 'help';

/** One tool for all that is seldom needed: each action is an operation of its own, and a command. */
export const manageMemories = defineOperation({
  name: 'manage_memories',
  title: 'Manage the memories',
  description:
    'List, count, read and change memories. args: get, forget, restore {id}; update {id, text}; supersede {id, by}; list, count {type, agent, tags}. "help" tells all.',
  effect: 'write',
  toolset: 'memory',
  handsOver: true,
  gathers: 'args',
  input: z.strictObject({
    action: z.enum([HELP, ...NAMES]).describe('What to do'),
    args: z.record(z.string(), z.unknown()).default({}).describe('Arguments of the action'),
  }),
  output: z.object({ action: z.enum([HELP, ...NAMES]), result: z.record(z.string(), z.unknown()) }),
  async run({ action, args }, context, call) {
    if (action === HELP) return { action, result: { text: help(args['action']) } };
    // Many models fill in every argument they know of; an empty one was not given.
    const given = Object.fromEntries(
      Object.entries(args).filter(([, value]) => value !== undefined && value !== null && value !== ''),
    );
    return { action, result: await handOver(ACTIONS[action], given, {}, context, call) };
  },
  render: ({ action, result }) =>
    action === HELP ? { body: String(result['text']) } : ACTIONS[action].render(result),
});

function help(asked: unknown): string {
  const name = NAMES.find((each) => each === asked || ACTIONS[each].name === asked);
  if (name !== undefined) return argumentsOf(ACTIONS[name], name);
  if (typeof asked === 'string')
    throw new BmadError('invalid_input', `manage_memories: there is no action ${quoted(asked)}.`, {
      subject: 'action',
      suggestions: nearest(asked, NAMES),
      hint: `Actions: ${HELP}, ${NAMES.join(', ')}.`,
    });
  return NAMES.map((each) => argumentsOf(ACTIONS[each], each)).join('\n\n');
}
