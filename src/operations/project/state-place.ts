import type { BmadError } from '../../base/errors.ts';
import { plural, t } from '../../base/text/message.ts';
import type { Step } from '../../base/step.ts';
import type { Context, PlacePort, ProjectState } from '../context.ts';
import type { Answer } from '../operation.ts';

type Place = Awaited<ReturnType<PlacePort['place']>>;
type Part = Place['parts'][number]['part'];

export const PARTS = ['memories', 'pages', 'runs', 'tasks', 'receipts'] as const;

/** How each part is called in an answer. */
export const PART_NAMES: Record<Part, string> = {
  memories: 'memories',
  pages: 'handoffs and sessions',
  runs: 'runs',
  tasks: 'tasks',
  receipts: 'receipts',
};

/** So many of a part. */
export function counted(part: Part, count: number): string {
  // The same folder has the lines of all of them.
  if (part === 'memories' && count === 0) return t`lines of tasks and handoffs`;
  if (part === 'memories') return plural(count, 'memory', 'memories');
  return part === 'pages'
    ? plural(count, 'handoff or session', 'handoffs and sessions')
    : plural(count, part.slice(0, -1));
}

const MOVE: Step = { operation: 'move_state', why: 'See what would move into the project' };
const SEE: Step = { operation: 'project_state', why: 'See all places, and the lines for .gitignore' };

/** Who gets the lines that are the memories. */
export function linesPlace({ home, parts }: Pick<Place, 'home' | 'parts'>): 'user' | 'shared' | 'private' {
  if (home === 'user') return 'user';
  return parts.find(({ part }) => part === 'memories')?.shared === true ? 'shared' : 'private';
}

export const PLACES = {
  private: 'private, git ignores them',
  shared: 'shared, git sees them',
  user: 'on this machine only',
  database: 'in the database of the team',
} as const;

/** The one rule, said of this project. */
export function placeText({ home, keep, folders }: Pick<Place, 'home' | 'keep' | 'folders'>): string {
  const where = folders.join(t` and `);
  if (home === 'user')
    return keep === 'user'
      ? t`The state of this project is kept in ${where}, for you alone on this machine, as you have set it.`
      : t`The state of this project is kept in ${where}, for you alone on this machine, because the project has no BMAD folder.`;
  return t`The state of this project is kept in ${where}.`;
}

/** An answer to the first call that kept something: it says where everything goes from now on. */
function withPlace(answer: Answer, place: Place): Answer {
  const { home, keep } = place;
  return {
    ...answer,
    note: [answer.note, placeText(place)].filter(Boolean).join('\n'),
    steps: [...(answer.steps ?? []), home === 'user' && keep !== 'user' ? MOVE : SEE],
  };
}

interface OnMachine {
  text: string;
  steps: Step[];
}

/** What of a project's state is on this machine only, counted, with the call that moves it. */
export async function onMachine(state: PlacePort): Promise<OnMachine | undefined> {
  const moves = (await state.moves()).filter(({ count }) => count > 0);
  if (moves.length === 0) return undefined;
  const parts = moves.map(({ part, count }) => counted(part, count));
  const { keep } = await state.place();
  return {
    text: t`On this machine only: ${parts.join(', ')}.`,
    steps: keep === 'user' ? [] : [MOVE],
  };
}

/** What is read while the database is out of reach is what this machine knew last. */
export function withTrouble(answer: Answer, trouble: BmadError): Answer {
  const told = t`DEGRADED: ${trouble.message} What is said here of memories, tasks and runs is what this machine knew last; nothing can be changed until it is back.`;
  return { ...answer, note: [told, answer.note].filter(Boolean).join('\n') };
}

/** The state of a project for which nothing was kept before this call. */
export async function unusedState(context: Context): Promise<ProjectState | undefined> {
  try {
    const state = await context.state();
    return (await state.unused()) ? state : undefined;
  } catch {
    // The call itself says what is wrong with the project.
    return undefined;
  }
}

/** The first call that keeps something says where. */
export async function withPlaceTold(answer: Answer, state: ProjectState): Promise<Answer> {
  const place = await state.place();
  return place.unused ? answer : withPlace(answer, place);
}
