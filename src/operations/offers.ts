import { once } from '../base/async.ts';
import { CLI_PROGRAM } from '../base/product.ts';
import { type Step, stepArguments } from '../base/step.ts';
import { t } from '../base/text/message.ts';
import type { DecidedBy } from '../model/memory.ts';
import type { Call } from './context.ts';
import { OFFERED } from './offered.ts';
import type { AnyOperation } from './operation.ts';
import type { UnifiedTool } from './toolsets.ts';

/** Loaded once: nearly every call asks for it, and each `import()` takes its time. */
const onDemand = /* @__PURE__ */ once(() => import('./on-demand.ts'));

/** The operation of this name, loaded with its first call. */
export async function namedOperation(name: string): Promise<AnyOperation> {
  return (await onDemand()).loadOperation(name);
}

/** The arguments of a step as a surface writes them; a project is left out where the operation takes none. */
export function writtenArguments(step: Step): Record<string, unknown> {
  const { project, ...args } = stepArguments(step);
  return project === undefined || OFFERED[step.operation]?.projectless === true ? args : { ...args, project };
}

/** What a person may do on the page; the list is closed. */
export const FOR_PEOPLE: readonly string[] = Object.entries(OFFERED).flatMap(([name, offer]) =>
  offer?.forPeople === true ? [name] : [],
);

/** The operations behind a unified tool, by the word it knows each by. */
function behind(tool: UnifiedTool): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(OFFERED).flatMap(([name, offer]) => {
      const word = offer?.behind?.[tool];
      return word === undefined ? [] : [[word, name] as const];
    }),
  );
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

/** Who has decided, in the records of what was decided on the page. */
export const ON_THE_PAGE = 'a person on the page';

/** How the person was asked who decides with this call. */
export function askedBy({ typed, ask, person }: Pick<Call, 'typed' | 'ask' | 'person'>): DecidedBy {
  if (typed === true) return ask === undefined ? 'flag' : 'terminal';
  return person === true ? 'page' : 'host';
}

/** `min_score` is `--min-score` on the command line. */
export function flagOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`).replaceAll('_', '-');
}

/** A step as a command line. What has no command cannot be done in a terminal. */
export function commandLine(step: Step, program: readonly string[] = [CLI_PROGRAM]): string | undefined {
  const { command, positional = [] } = OFFERED[step.operation] ?? {};
  if (command === undefined) return undefined;
  const { kind: _kind, ...args } = writtenArguments(step);
  const byPlace = positional.flatMap((name) =>
    args[name] === undefined ? [] : [args[name]].flat().map(quoted),
  );
  const byName = Object.entries(args)
    .filter(([name, value]) => !positional.includes(name) && value !== undefined)
    .flatMap(([name, value]) => flagWords(name, value));
  return [...program.map(quoted), command, ...byPlace, ...byName].join(' ');
}

function flagWords(name: string, value: unknown): string[] {
  const flag = flagOf(name);
  if (value === true) return [`--${flag}`];
  if (value === false) return [`--no-${flag}`];
  if (Array.isArray(value)) return [`--${flag}`, quoted(value.join(','))];
  return [`--${flag}`, quoted(value)];
}

function quoted(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return /^[\w./:@…-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
