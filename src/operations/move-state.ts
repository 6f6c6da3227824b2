import * as z from 'zod';
import { BmadError } from '../base/errors.ts';
import { lines } from './memory-view.ts';
import { PART_NAMES } from './older-state.ts';
import { defineOperation } from './operation.ts';

const PARTS = ['memories', 'pages', 'runs', 'tasks', 'receipts'] as const;

/** A person's decision, as it changes what colleagues get: a command, and no tool. */
export const moveState = defineOperation({
  name: 'move_state',
  title: 'Move the state into the project',
  description:
    'Bring memories, handoffs, sessions, runs, tasks and receipts that were kept with you before the project had BMAD into its own folders. Nothing there is overwritten, and the old folders are kept aside.',
  effect: 'write',
  command: 'project move-state',
  input: z.strictObject({}),
  output: z.object({
    parts: z.array(
      z.object({
        part: z.enum(PARTS),
        from: z.string(),
        to: z.string(),
        /** How many pieces came along: memories, or files and folders. */
        count: z.int(),
        left: z.array(z.string()),
        kept: z.string().optional(),
        trouble: z.string().optional(),
      }),
    ),
  }),
  async run(_input, context) {
    const state = await context.state();
    const parts = [];
    for (const older of await state.older()) {
      const { part, from, to } = older;
      try {
        if (part === 'memories') {
          const { count, kept } = await context.moveMemory();
          parts.push({ part, from, to, count, left: [], ...(kept === undefined ? {} : { kept }) });
          continue;
        }
        const { brought, left, kept } = await state.bring(older);
        parts.push({ part, from, to, count: brought.length, left, ...(kept === undefined ? {} : { kept }) });
      } catch (error) {
        // One part that cannot be moved does not keep the others.
        if (!(error instanceof BmadError)) throw error;
        parts.push({ part, from, to, count: 0, left: [], trouble: error.line });
      }
    }
    if (parts.length > 0) return { parts };
    throw new BmadError('not_found', 'Nothing of this project is kept where it is not looked for.', {
      hint: 'State of a project without BMAD is found with you until the project gets _bmad. "bmad memory move" makes _bmad/_memory and brings the memories.',
    });
  },
  failed: ({ parts }) => parts.some(({ trouble, kept }) => trouble !== undefined || kept === undefined),
  render: ({ parts }) => ({
    body: lines(
      parts.map(({ part, from, to, left, kept, trouble }) =>
        trouble !== undefined
          ? `${PART_NAMES[part]}: NOT moved, they stay in ${from}. ${trouble}`
          : lines(
              kept === undefined
                ? `${PART_NAMES[part]}: NOT moved, they stay in ${from}: ${to} has others that do not follow them.`
                : `${PART_NAMES[part]}: moved into ${to}; the old ones are kept as ${kept}`,
              left.length === 0 || kept === undefined
                ? undefined
                : `  left there, because the project has something else of that name: ${left.join(', ')}`,
            ),
      ),
    ),
  }),
});
