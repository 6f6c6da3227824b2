import { isObject } from './values.ts';
import { say, t } from './text/message.ts';
/**
 * What a reader can do next, as data. It names an operation and that operation's own arguments; each surface prints it
 * as what its reader can do: a tool call, a command, a request or a function call.
 */
export interface Step {
  operation: string;
  args?: Readonly<Record<string, unknown>> | undefined;
  /** Arguments that only the reader can fill in. */
  open?: readonly string[] | undefined;
  /** What it is for, as an imperative without a full stop: "List the agents". */
  why: string;
}

/** How one surface writes the call of a step; nothing where its reader has no way to take it. */
export type StepWriter = (step: Step) => string | undefined;

/** Writes a step inside a text, for texts whose steps belong to single lines. */
export interface SayStep {
  (step: Omit<Step, 'why'>): string;
  /** The same, and nothing for a step that this caller cannot take. */
  ifTaken?(step: Omit<Step, 'why'>): string | undefined;
}

/** The writer of one caller inside of texts; a step that this caller cannot take is named all the same. */
export function saying(write: StepWriter = unwritten): SayStep {
  const known = sayings.get(write);
  if (known !== undefined) return known;
  const ifTaken = (step: Omit<Step, 'why'>): string | undefined => write({ ...step, why: '' });
  const always = (step: Omit<Step, 'why'>): string =>
    ifTaken(step) ?? `${step.operation} ${argumentsText(stepArguments({ ...step, why: '' }))}`;
  const sayStep = Object.assign(always, { ifTaken: write === unwritten ? always : ifTaken });
  sayings.set(write, sayStep);
  return sayStep;
}

const unwritten: StepWriter = () => undefined;

/** One for each writer: texts are kept by who says them. */
const sayings = new WeakMap<StepWriter, SayStep>();

/** What stands for an argument that the reader fills in. */
const OPEN_VALUE = '…';

/** The arguments of a step with a mark in place of the open ones. */
export function stepArguments({ args = {}, open = [] }: Step): Record<string, unknown> {
  return { ...args, ...Object.fromEntries(open.map((name) => [name, OPEN_VALUE])) };
}

/** One line for each step that can be taken, each once: `List the agents: bmad list agents`. */
export function stepLines(steps: readonly Step[], write: StepWriter): string[] {
  const lines = steps.flatMap((step) => {
    const call = write(step);
    return call === undefined ? [] : [t`${say(step.why)}: ${call}`];
  });
  return [...new Set(lines)];
}

/** `{operation:"list", query:"agents"}`: JSON without the quotation marks around plain names, as models read it best. */
export function argumentsText(args: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(args)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${/^\w+$/.test(key) ? key : JSON.stringify(key)}:${valueText(value)}`);
  return `{${pairs.join(', ')}}`;
}

function valueText(value: unknown): string {
  return isObject(value) ? argumentsText(value) : JSON.stringify(value);
}
