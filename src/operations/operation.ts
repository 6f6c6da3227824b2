import * as z from 'zod';
import type { Call, Context } from './context.ts';
import type { Toolset } from './toolsets.ts';

/** What a person or a model reads. The body is the thing itself; the note is what the server has to say about it. */
export interface Answer {
  body: string;
  note?: string;
  /** The body is a file, to the byte: nothing may be added to it. */
  exact?: true;
  /** The body, not only the note, names next steps as calls; in a terminal these are commands. */
  namesSteps?: true;
}

/**
 * One ability of the product, declared once. The MCP tool, the command, the reference pages and the snapshots are all
 * derived from this value; it knows neither MCP nor a terminal.
 */
export interface Operation<I extends z.ZodObject = z.ZodObject, O extends z.ZodObject = z.ZodObject> {
  name: string;
  title: string;
  description: string;
  effect: 'read' | 'write' | 'destroy';
  /** Whether it starts programs of the project; over HTTP that has to be allowed first. */
  runsPrograms?: true;
  /** Switches that have it start a program, where it does not by itself; over HTTP the same holds for them. */
  runsProgramsWith?: readonly (keyof z.input<I> & string)[];
  /** The toolset in which it is an MCP tool of its own. */
  toolset?: Toolset;
  /** Whether its data is the answer, for programs and models alike, and not the text that is made of it. */
  answersData?: true;
  /** The words of its command: `list`, `config show`. */
  command?: string;
  /** Inputs the command takes by position; the last one may be left out if it is optional. */
  positional?: readonly (keyof z.input<I> & string)[];
  /** Command lines that show it off; they are run by a test. */
  examples?: readonly string[];
  /** Inputs that are taken and not told to models, whose every session pays for what is told. */
  untold?: readonly (keyof z.input<I> & string)[];
  /** Inputs of which models are told the name only, because the description of the operation says the rest. */
  plain?: readonly (keyof z.input<I> & string)[];
  /** Whether it asks somebody outside, such as the model of the client, so that its answer is not of this project alone. */
  asksOutside?: true;
  /** Inputs of which a call needs at least one, whatever it is about. */
  needsOneOf?: readonly (keyof z.input<I> & string)[];
  /** Other names that callers know inputs by, and the input each stands for; they are not advertised. */
  synonyms?: Readonly<Record<string, keyof z.input<I> & string>>;
  /** The argument that takes in all that is given under other names: callers forget to put things into it. */
  gathers?: keyof z.input<I> & string;
  /** It only hands over to other operations, which are checked themselves: it may be called where nothing is written. */
  handsOver?: true;
  /** Whether a call with this input writes, for one that can also only show what it would do. */
  writes?(input: z.output<I>): boolean;
  input: I;
  output: O;
  run(input: z.output<I>, context: Context, call: Call): Promise<z.input<O>>;
  render(data: z.output<O>): Answer;
  /** The operation that an answer is of, for one that hands over to others. */
  answeredBy?(data: z.output<O>): AnyOperation;
  /** Whether the answer reports something broken, so that a command ends with a code other than 0. */
  failed?(data: z.output<O>): boolean;
}

/** Checks the types of one declaration while keeping it usable in a list with all others. */
export function defineOperation<I extends z.ZodObject, O extends z.ZodObject>(
  operation: Operation<I, O>,
): AnyOperation {
  return operation;
}

/** Input and output types differ from one operation to the next; `execute` checks both with the operation's schemas. */
export type AnyOperation = Operation;

/** Whether it has something to offer where nothing is written. */
export function mayRead(tool: Pick<AnyOperation, 'effect' | 'handsOver'> & { writes?: unknown }): boolean {
  return tool.effect === 'read' || tool.handsOver === true || 'writes' in tool;
}
