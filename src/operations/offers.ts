import { t } from '../base/text/message.ts';
import { stepArguments, type Step } from '../base/step.ts';
import { OFFERED } from './offered.ts';
import type { AnyOperation, UnifiedTool } from './operation.ts';

/** Where an operation is offered: what can be said of it without its code. */
export type Offer = Pick<AnyOperation, 'toolset' | 'behind' | 'serves' | 'command' | 'forPeople'> & {
  positional?: readonly string[];
  /** Whether it takes no project. */
  projectless?: true;
};

/** The arguments of a step as a surface writes them; a project is left out where the operation takes none. */
export function writtenArguments(step: Step): Record<string, unknown> {
  const { project, ...args } = stepArguments(step);
  return project === undefined || OFFERED[step.operation]?.projectless === true ? args : { ...args, project };
}

/** What a person may do on the page; the list is closed. */
export const FOR_PEOPLE: readonly string[] = Object.entries(OFFERED).flatMap(([name, offer]) =>
  offer?.forPeople === true ? [name] : [],
);

const TABLES = new Map<UnifiedTool, ReadonlyMap<string, string>>();

/** The operations behind a unified tool, by the word it knows each by. */
function behind(tool: UnifiedTool): ReadonlyMap<string, string> {
  const known = TABLES.get(tool);
  if (known !== undefined) return known;
  const table = new Map(
    Object.entries(OFFERED).flatMap(([name, offer]) => {
      const word = offer?.behind?.[tool];
      return word === undefined ? [] : [[word, name] as const];
    }),
  );
  TABLES.set(tool, table);
  return table;
}

export function wordsBehind(tool: UnifiedTool): readonly string[] {
  return [...behind(tool).keys()];
}

/** The name of the operation that a unified tool knows by this word. */
export function operationBehind(tool: UnifiedTool, word: string): string {
  const name = behind(tool).get(word);
  if (name === undefined) throw new Error(t`There is no ${word} behind ${tool}.`);
  return name;
}
