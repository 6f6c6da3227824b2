import { BmadError } from '../../base/errors.ts';
import { t } from '../../base/text/message.ts';
import type { Prompt } from './ask/picker.ts';
import type { Colour, Line, Look } from './screen/paint.ts';

/** A stream that a person looks at. */
export interface Canvas {
  look: Look;
  show(lines: readonly Line[]): void;
}

/** A person who can be asked: somebody sits at the keyboard, reads the screen, and no program waits for the answer. */
export interface Keyboard {
  /** Shows a prompt until it has a value; throws where the person does not want to answer. */
  ask<State, Value>(prompt: Prompt<State, Value>): Promise<Value>;
}

/** One line that says what is going on, and changes. */
export interface StatusLine {
  show(text: string): void;
  clear(): void;
}

/** The printer of the program, and the settings flags every command takes. */
export interface Terminal {
  /** Text for people, on stdout and on stderr. */
  out(text: string): void;
  err(text: string): void;
  /** JSON for programs. */
  json(text: string): void;
  /** A file, which a pipe that asks for it gets to the byte; tells whether something in it was made visible. */
  file(text: string, raw: boolean): boolean;
  signal: AbortSignal;
  /** Reads one line that the person types; not there where nobody sits at the terminal. */
  readLine?: ((prompt: string) => Promise<string>) | undefined;
  /** Asks with single keys, where that is possible. */
  keyboard?: Keyboard | undefined;
  /** What is going on; not there in a pipe, and where nobody wants to know. */
  status?: StatusLine | undefined;
  /** Puts a text into the clipboard of the person. */
  copy?(text: string): Promise<void>;
  /** Lines of help for the settings, those that people use or all. */
  settingsHelp(common: boolean): string;
  /** Where a person reads the answer, and what is said about it; not there where it goes to a pipe or a file. */
  answers?: Canvas | undefined;
  remarks?: Canvas | undefined;
}

/** How answers are shown, which every command takes. */
interface Presentation {
  colour: Colour;
  /** Nothing is said about what is going on. */
  quiet: boolean;
}

const WHEN = { always: 'always', never: 'never', auto: undefined } as const;

/** Takes the flags for showing out of a command line; what follows `--` is text. */
export function extractPresentation(args: readonly string[]): { how: Presentation; rest: string[] } {
  const how: Presentation = { colour: undefined, quiet: false };
  const end = args.indexOf('--');
  const flags = end === -1 ? args : args.slice(0, end);
  const rest = flags.filter((word) => {
    if (word === '--color') how.colour = 'always';
    else if (word === '--no-color') how.colour = 'never';
    else if (word === '--quiet') how.quiet = true;
    else if (word.startsWith('--color=')) how.colour = whenOf(word.slice('--color='.length));
    else return true;
    return false;
  });
  return { how, rest: [...rest, ...(end === -1 ? [] : args.slice(end))] };
}

function whenOf(word: string): Colour {
  if (word in WHEN) return WHEN[word as keyof typeof WHEN];
  throw new BmadError('invalid_input', t`--color takes always, never or auto.`, {
    suggestions: Object.keys(WHEN),
  });
}
