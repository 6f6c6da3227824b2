import * as z from 'zod';
import { BmadError } from '../../base/errors.ts';
import type { MemoryPort, OlderStatePort } from '../context.ts';
import { lines } from '../answer-text.ts';
import { projectField } from '../fields.ts';
import { PART_NAMES } from './older-state.ts';
import { defineOperation } from '../operation.ts';

const PARTS = ['memories', 'pages', 'runs', 'tasks', 'receipts'] as const;

const movedPart = z.object({
  part: z.enum(PARTS),
  from: z.string(),
  to: z.string(),
  /** How many pieces came along: memories, or files and folders. */
  count: z.int(),
  left: z.array(z.string()),
  kept: z.string().optional(),
  trouble: z.string().optional(),
});
type MovedPart = z.output<typeof movedPart>;

export const moveState = defineOperation({
  name: 'move_state',
  title: 'Move the state into the project',
  description:
    "Move a project's memories, handoffs, sessions, runs, tasks and receipts from your user folder into the project, where colleagues get them. Nothing there is overwritten, and the old folders are kept aside.",
  effect: 'write',
  behind: { manage_project: 'move_state' },
  command: 'project move-state',
  input: z.strictObject({ project: projectField }),
  output: z.object({ parts: z.array(movedPart) }),
  async run({ project }, context) {
    const state = await context.state(project);
    const { keep, home, unused } = await state.place();
    if (keep === 'user' && home === 'user')
      throw new BmadError('conflict', 'The state of projects is set to be kept in your user folder.', {
        hint: `${context.settingKeys['projectState'] ?? 'projectState'} is user (${context.configFrom.projectState}): set it to auto or project, then move the state.`,
      });
    if ((await state.movable()).length === 0)
      throw new BmadError(
        'not_found',
        unused
          ? 'There is nothing to move: nothing has been kept for this project yet.'
          : "There is nothing to move: all of this project's state is already in the project.",
        { steps: [{ operation: 'project_state', why: 'See where it is kept' }] },
      );
    return state.whileMoving(async () => ({ parts: await moved(state, context, project) }));
  },
  failed: ({ parts }) =>
    parts.some(({ trouble, kept, left }) => trouble !== undefined || kept === undefined || left.length > 0),
  render: ({ parts }) => ({
    body:
      parts.length === 0
        ? 'Another process has just moved it; there is nothing left to do.'
        : lines(parts.map((part) => movedText(part))),
    steps: [{ operation: 'project_state', why: 'See where it is now, and the lines for .gitignore' }],
  }),
});

/** Looked for once more, as another process may have been moving it until now. */
async function moved(
  state: OlderStatePort,
  context: MemoryPort,
  project: string | undefined,
): Promise<MovedPart[]> {
  const parts: MovedPart[] = [];
  for (const older of await state.movable()) {
    const { part, from, to } = older;
    try {
      if (part === 'memories') {
        const { count, kept } = await context.moveMemory(project);
        parts.push({ part, from, to, count, left: [], kept });
      } else {
        const { brought, left, kept } = await state.bring(older);
        parts.push({ part, from, to, count: brought.length, left, kept });
      }
    } catch (error) {
      // One part that cannot be moved does not keep the others.
      if (!(error instanceof BmadError)) throw error;
      parts.push({ part, from, to, count: 0, left: [], trouble: error.line });
    }
  }
  return parts;
}

function movedText({ part, from, to, left, kept, trouble }: MovedPart): string {
  const name = PART_NAMES[part];
  if (trouble !== undefined) return `${name}: NOT moved, they stay in ${from}. ${trouble}`;
  const named = `
  left in ${from}, because the project has something different with that name: ${left.join(', ')}. Merge them by hand, then remove them there.`;
  if (kept === undefined && part !== 'receipts' && left.length > 0)
    return `${name}: nothing more to move into ${to}${named}`;
  if (kept === undefined)
    return `${name}: NOT moved, they stay in ${from}: ${to} has others that do not continue them.`;
  if (left.length === 0) return `${name}: moved into ${to}; the old ones are kept as ${kept}`;
  return `${name}: PARTLY moved into ${to}; the old ones are kept as ${kept}${named}`;
}
