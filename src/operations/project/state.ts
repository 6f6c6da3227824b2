import * as z from 'zod';
import { BmadError } from '../../base/errors.ts';
import { say, t } from '../../base/text/message.ts';
import { projectField, stepsField } from '../fields.ts';
import { lines } from '../answer-text.ts';
import type { PlacePort } from '../context.ts';
import { defineOperation } from '../operation.ts';
import { counted, onMachine, PART_NAMES, PARTS, placeText } from './state-place.ts';

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
  async run(_input, context) {
    const state = await context.state();
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

const movedPart = z.object({
  part: z.enum(PARTS),
  /** How many there are of it. */
  count: z.int(),
  from: z.string(),
  to: z.string(),
  /** Where the old folder or file lies now, whole. */
  kept: z.string().optional(),
});

type Moves = Awaited<ReturnType<PlacePort['moves']>>;

export const moveState = defineOperation({
  name: 'move_state',
  title: 'Move the state into the project',
  description:
    "Move the project's state from your user folder into the project, where colleagues get it: all of it or nothing. Without apply, lists what would move.",
  effect: 'write',
  behind: { manage_project: 'move_state' },
  writes: ({ apply }) => apply,
  command: 'project move-state',
  examples: ['project move-state', 'project move-state --apply'],
  input: z.strictObject({
    apply: z.boolean().default(false).describe('Move it; without it, what would move is only listed'),
    project: projectField,
  }),
  output: z.object({
    applied: z.boolean(),
    parts: z.array(movedPart),
    /** What is in the way; nothing is moved while there is any. */
    obstacles: z.array(z.string()),
  }),
  async run({ apply }, context) {
    const state = await context.state();
    const { keep, home, unused } = await state.place();
    if (keep === 'user' && home === 'user')
      throw new BmadError('conflict', t`The state of projects is set to be kept in your user folder.`, {
        hint: t`${context.settingKeys['projectState'] ?? 'projectState'} is user (${context.configFrom.projectState}): set it to auto or project, then move the state.`,
      });
    const moves = await state.moves();
    if (moves.length === 0)
      throw new BmadError(
        'not_found',
        unused
          ? t`There is nothing to move: nothing has been kept for this project yet.`
          : t`There is nothing to move: all of this project's state is already in the project.`,
        { steps: [{ operation: 'project_state', why: t`See where it is kept` }] },
      );
    if (!apply) return { applied: false, parts: partsOf(moves), obstacles: await obstaclesOf(moves) };
    // Looked for once more, as another process may have been moving it until now.
    return state.whileMoving(async () => moved(await state.moves()));
  },
  failed: ({ applied, obstacles }) => !applied && obstacles.length > 0,
  render: ({ applied, parts, obstacles }) => ({
    body: lines(
      obstacles.length > 0
        ? t`Nothing was moved, because these are in the way:`
        : applied && parts.length === 0
          ? t`Another process has just moved it; there is nothing left to do.`
          : applied
            ? t`Moved into the project:`
            : t`This would move into the project:`,
      obstacles.map((text) => `- ${text}`),
      obstacles.length > 0 ? [] : parts.map((part) => partText(part)),
    ),
    ...(obstacles.length > 0 ? { note: t`Join or remove them by hand, then try again.` } : {}),
    steps: applied
      ? [{ operation: 'project_state', why: t`See where it is now, and the lines for .gitignore` }]
      : obstacles.length > 0
        ? []
        : [{ operation: 'move_state', args: { apply: true }, why: t`Move it` }],
  }),
});

const partsOf = (moves: Moves) => moves.map(({ part, count, from, to }) => ({ part, count, from, to }));

const obstaclesOf = async (moves: Moves): Promise<string[]> =>
  (await Promise.all(moves.map((move) => move.obstacles()))).flat();

/** Everything is copied and checked before any of it is taken from its old place. */
async function moved(moves: Moves) {
  const parts = partsOf(moves);
  const obstacles = await obstaclesOf(moves);
  if (obstacles.length > 0) return { applied: false, parts, obstacles };
  const undos: (() => Promise<void>)[] = [];
  const copy = async (some: Moves): Promise<void> => {
    try {
      for (const move of some) undos.push(await move.copy());
    } catch (error) {
      for (const undo of undos.toReversed()) await undo();
      throw error;
    }
  };
  await copy(moves.filter(({ locked }) => locked === undefined));
  const all = async () => {
    await copy(moves.filter(({ locked }) => locked !== undefined));
    const kept: string[] = [];
    for (const move of moves) kept.push(await move.setAside());
    return { applied: true, parts: parts.map((part, at) => ({ ...part, kept: kept[at] })), obstacles };
  };
  return moves.reduce((inner, { locked }) => (locked === undefined ? inner : () => locked(inner)), all)();
}

function partText({ part, count, from, to, kept }: z.output<typeof movedPart>): string {
  const what = `- ${counted(part, count)}`;
  return kept === undefined
    ? t`${what}: from ${from} to ${to}`
    : t`${what}: now in ${to}; the old ones are kept as ${kept}`;
}
