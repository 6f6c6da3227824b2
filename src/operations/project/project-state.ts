import { say, t } from '../../base/text/message.ts';
import * as z from 'zod';
import { lines } from '../answer-text.ts';
import { projectField, stepsField } from '../fields.ts';
import { defineOperation } from '../operation.ts';
import { onMachine, PART_NAMES, PARTS, placeText } from './state-place.ts';

/** What git would see, as lines that leave it out. They are offered: whether colleagues get it is the user's choice. */
const ignoring = (parts: readonly { folder: string; shared: boolean }[]): string[] =>
  parts
    .filter(({ shared }) => shared)
    .map(({ folder }) => `${folder}/`)
    // One that is below another goes with it.
    .filter((line, _, all) => !all.some((other) => other !== line && line.startsWith(other)));

export const projectState = defineOperation({
  name: 'project_state',
  title: "Where a project's state is kept",
  description:
    'Where memories, sessions, runs, tasks and receipts are kept, what of them is on this machine only, what colleagues get through git, and the lines for .gitignore that leave it out.',
  effect: 'read',
  behind: { manage_project: 'project_state' },
  command: 'project state',
  input: z.strictObject({ project: projectField }),
  output: z.object({
    home: z.enum(['project', 'user']),
    keep: z.enum(['auto', 'project', 'user']).describe('What is set about it'),
    unused: z.boolean().describe('Nothing has been kept yet'),
    folders: z.array(z.string()).describe('The folders that have all of it'),
    parts: z.array(
      z.object({
        part: z.enum(PARTS),
        folder: z.string(),
        shared: z.boolean().describe('No .gitignore in its folder leaves it out'),
      }),
    ),
    ignore: z.array(z.string()).describe('Lines for .gitignore that leave it out'),
    on_machine: z.string().optional().describe('What is on this machine only'),
    steps: stepsField,
  }),
  async run({ project }, context) {
    const state = await context.state(project);
    const { merging: _merging, ...place } = await state.place();
    const machine = await onMachine(state);
    return {
      ...place,
      ignore: ignoring(place.parts),
      ...(machine === undefined ? {} : { on_machine: machine.text, steps: machine.steps }),
    };
  },
  render({ parts, ignore, on_machine, steps = [], ...place }) {
    return {
      body: lines(
        placeText(place),
        parts.map(
          ({ part, folder, shared }) =>
            t`- ${say(PART_NAMES[part])}: ${folder}${place.home === 'project' && !shared ? t` (git ignores it)` : ''}`,
        ),
        on_machine,
        ignore.length === 0
          ? undefined
          : t`Colleagues get the others through git once they are committed. To leave them out, add to .gitignore:\n${ignore.join('\n')}`,
      ),
      steps,
    };
  },
});
