import type { Step } from '../../base/step.ts';
import type { Answer } from '../operation.ts';
import type { ProjectState } from '../context.ts';

type Place = Awaited<ReturnType<ProjectState['place']>>;

export const MOVE: Step = { operation: 'move_state', why: 'Keep it in the project instead' };
const SEE: Step = { operation: 'project_state', why: 'See all places, and the lines for .gitignore' };

/** The one rule, said of this project. */
export function placeText(home: Place['home']): string {
  return home === 'project'
    ? 'All state of this project is kept in the project.'
    : 'All state of this project is kept in your user folder, for you alone, until it is moved into the project.';
}

/** An answer to the first call that kept something: it says where everything goes from now on. */
export function withPlace(answer: Answer, { home, keep, parts }: Place): Answer {
  const folders = [...new Set(parts.map(({ folder }) => folder))];
  const told =
    home === 'project'
      ? `${placeText(home)} These folders are made as they are needed: ${folders.join(', ')}.`
      : `${placeText(home)} It is in ${folders[0] ?? ''} and beside it.`;
  return {
    ...answer,
    note: [answer.note, told].filter(Boolean).join('\n'),
    steps: [...(answer.steps ?? []), home === 'user' && keep !== 'user' ? MOVE : SEE],
  };
}
