import { t } from '../base/text/message.ts';
import * as z from 'zod';
import type { SayStep, Step } from '../base/step.ts';
import type { Call, Context } from './context.ts';
import type { Declaration } from './toolsets.ts';

/** What a person or a model reads. The body is the thing itself; the note is what the server has to say about it. */
export interface Answer {
  body: string;
  note?: string;
  /** What to do next; each surface prints what its reader can do. */
  steps?: readonly Step[];
  /** What to change in the call for more of the answer; `execute` makes a step of it. */
  again?: { args: Readonly<Record<string, unknown>>; why: string } | undefined;
  /** The body is a file, to the byte: nothing may be added to it. */
  exact?: true;
  /** A person decides on the body: nothing in it is masked because of how it looks, which its author has chosen. */
  asStored?: true;
  /** The user has asked for what the body says to do: it is to be followed, not only read. */
  instructs?: true;
  /** The file is JSON, or lines of it, which has escapes of its own for what is hidden in it. */
  json?: true;
}

/** What there are lists of, for a person to choose from. */
export type Picked =
  | 'work'
  | 'agent'
  | 'workflow'
  | 'task'
  | 'task-waiting'
  | 'task-open'
  | 'memory'
  | 'memory-forgotten'
  | 'contract'
  | 'source'
  | 'session';

/** What takes back what was done. */
export interface Undo {
  operation: string;
  args: Readonly<Record<string, unknown>>;
}

/** Runs an operation for what has to be shown before a question; its data, or nothing where it fails. */
export type Ask = (
  operation: string,
  input: Record<string, unknown>,
) => Promise<Record<string, unknown> | undefined>;

/** What is asked before something is taken away. */
interface Removal {
  question: string;
  /** The input that says what it is about. */
  about?: string;
  /** Whether anything is taken away when it is called like this; always, where nothing is said. */
  when?(given: Readonly<Record<string, unknown>>): boolean;
  /** What is shown beside the question, where the input does not say it. */
  details?(given: Readonly<Record<string, unknown>>, ask: Ask): Promise<string | undefined>;
}

/** The arguments of an operation, in its own words. */
export interface OwnArguments {
  args: Record<string, unknown>;
  /** What the caller called an argument, where the operation has another name for it. */
  spoken?: Readonly<Record<string, string>>;
}

/** A call of one operation, as a call of the one it stands for. */
export interface Route extends OwnArguments {
  /** The name of that operation. */
  to: string;
  /** The arguments are in the form of the tool `bmad`. */
  form?: true;
  /** What the data of the answer says beside the result, such as the operation that was meant. */
  within?: Readonly<Record<string, string>>;
}

/**
 * One ability of the product, declared once. The MCP tool, the command, the reference pages and the snapshots are all
 * derived from this value; it knows neither MCP nor a terminal.
 */
export interface Operation<
  I extends z.ZodObject = z.ZodObject,
  O extends z.ZodObject = z.ZodObject,
> extends Declaration {
  /** Switches that have it start a program, where it does not by itself; over HTTP the same holds for them. */
  runsProgramsWith?: readonly (keyof z.input<I> & string)[];
  /** Fields that only the command line takes: what they do is for the user of this machine alone to ask for. */
  typedOnly?: readonly (keyof z.input<I> & string)[];
  /** Whether it keeps state of the project: the first such call says where. */
  keeps?: true;
  /** Turns the form of the tool `bmad` into its own arguments; without it they are the same. */
  fromForm?(form: UnifiedForm): OwnArguments;
  /** Whether its data is the answer, for programs and models alike, and not the text that is made of it. */
  answersData?: true;
  /** Whether its answer may be a file, so that a program may ask for it to the byte. */
  printsFile?: true;
  /** Inputs the command takes by position; the last one may be left out if it is optional. */
  positional?: readonly (keyof z.input<I> & string)[];
  /** Whether the last of them is a sentence, which may be typed without quotation marks. */
  sentence?: true;
  /** Command lines that show it off; they are run by a test. */
  examples?: readonly string[];
  /** The input that a person chooses from a list where they leave it out, and what that list has. */
  picks?: Readonly<Partial<Record<keyof z.input<I> & string, Picked>>>;
  /** Whether a person who names nothing goes through everything that waits. */
  reviews?: true;
  /** It takes something away: what a person at a terminal is asked first, unless they have said yes before. */
  removes?: Removal;
  /** Inputs that are taken and not told to models, whose every session pays for what is told. */
  untold?: readonly (keyof z.input<I> & string)[];
  /** Inputs of which models are told the name only, because the description of the operation says the rest. */
  plain?: readonly (keyof z.input<I> & string)[];
  /** Inputs of which a call needs at least one, whatever it is about. */
  needsOneOf?: readonly (keyof z.input<I> & string)[];
  /** Other names that callers know inputs by, and the input each stands for; they are not advertised. */
  synonyms?: Readonly<Record<string, keyof z.input<I> & string>>;
  /** The argument that takes in all that is given under other names: callers forget to put things into it. */
  gathers?: keyof z.input<I> & string;
  /** For one that stands for others: the call that is meant. Where there is none, it answers itself. */
  route?(input: z.output<I>): Route | undefined;
  /** Whether a call with this input writes, for one that can also only show what it would do. */
  writes?(input: z.output<I>): boolean;
  input: I;
  output: O;
  run(input: z.output<I>, context: Context, call: Call): Promise<z.input<O>>;
  render(data: z.output<O>, say: SayStep): Answer;
  /** The call that takes back what this one has done, as far as that can be: people are offered it, and asked first otherwise. */
  undo?(data: z.output<O>): Undo | undefined;
  /** Whether the answer reports something broken, so that a command ends with a code other than 0. */
  failed?(data: z.output<O>): boolean;
}

/** Checks the types of one declaration, keeps that of its answer, and leaves it usable in a list with all others. */
export function defineOperation<I extends z.ZodObject, O extends z.ZodObject>(
  operation: Operation<I, O>,
): Operation<z.ZodObject, O> {
  return operation;
}

/** What each of some operations answers, by its name: for those who read answers, who need no types of their own. */
export type AnswersOf<T extends Record<string, () => Promise<{ output: z.ZodObject }>>> = {
  [K in keyof T]: z.output<Awaited<ReturnType<T[K]>>['output']>;
};

/** Declares an operation that always stands for another one. */
export function defineRoute<I extends z.ZodObject, O extends z.ZodObject>(
  declaration: Omit<Operation<I, O>, 'run' | 'render' | 'route'> & { route(input: z.output<I>): Route },
): Operation<z.ZodObject, O> {
  const neverRun = (): never => {
    throw new Error(t`${declaration.name} is run through its route.`);
  };
  return defineOperation({ ...declaration, run: neverRun, render: neverRun });
}

/** Input and output types differ from one operation to the next; `execute` checks both with the operation's schemas. */
export type AnyOperation = Operation;

/** What callers of the tool `bmad` say: the thing by its kind, and what is wanted of it. */
export type UnifiedForm = Partial<Record<string, unknown>> &
  Partial<Record<'query' | 'agent' | 'workflow' | 'uri' | 'type', string | undefined>>;
