import * as z from 'zod';
import type { Step } from '../../base/step.ts';
import { lines } from '../answer-text.ts';
import { projectField } from '../fields.ts';
import { defineOperation } from '../operation.ts';
import { PART_NAMES } from './older-state.ts';
import { MOVE, placeText } from './state-place.ts';

const PARTS = ['memories', 'pages', 'runs', 'tasks', 'receipts'] as const;

/** What git would see, as lines that leave it out. They are offered: whether colleagues get it is the user's choice. */
const ignoring = (parts: readonly { folder: string; shared: boolean }[]): string[] =>
  parts.filter(({ shared }) => shared).map(({ folder }) => `${folder}/`);

export const projectState = defineOperation({
  name: 'project_state',
  title: "Where a project's state is kept",
  description:
    'The one place of memories, sessions, runs, tasks and receipts, what colleagues get of it through git, and the lines for .gitignore that leave it out.',
  effect: 'read',
  behind: { manage_project: 'project_state' },
  command: 'project state',
  input: z.strictObject({ project: projectField }),
  output: z.object({
    home: z.enum(['project', 'user']),
    keep: z.enum(['auto', 'project', 'user']).describe('What is set about it'),
    unused: z.boolean().describe('Nothing has been kept yet'),
    parts: z.array(
      z.object({
        part: z.enum(PARTS),
        folder: z.string(),
        shared: z.boolean().describe('No .gitignore in its folder leaves it out'),
      }),
    ),
    ignore: z.array(z.string()).describe('Lines for .gitignore that leave it out'),
    movable: z.boolean().describe('Some of it is in the user folder and can be moved'),
  }),
  async run({ project }, context) {
    const state = await context.state(project);
    const place = await state.place();
    const movable = (await state.movable()).length > 0;
    return { ...place, ignore: place.home === 'project' ? ignoring(place.parts) : [], movable };
  },
  render(data) {
    const { home, parts, ignore, movable, keep } = data;
    const steps: Step[] = movable && keep !== 'user' ? [MOVE] : [];
    return {
      body: lines(
        placeText(home),
        parts.map(
          ({ part, folder, shared }) =>
            `- ${PART_NAMES[part]}: ${folder}${home === 'project' && !shared ? ' (git ignores it)' : ''}`,
        ),
        ignore.length === 0
          ? undefined
          : `Colleagues get the others through git once they are committed. To leave them out, add to .gitignore:\n${ignore.join('\n')}`,
      ),
      steps,
    };
  },
});
