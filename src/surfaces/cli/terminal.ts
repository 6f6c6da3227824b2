import type { Prompt } from './ask/prompt.ts';
import type { Line } from './screen/lines.ts';
import type { Look } from './screen/look.ts';

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
  /** Lines of help for the settings. */
  settingsHelp: string;
  /** Where a person reads the answer, and what is said about it; not there where it goes to a pipe or a file. */
  answers?: Canvas | undefined;
  remarks?: Canvas | undefined;
}
