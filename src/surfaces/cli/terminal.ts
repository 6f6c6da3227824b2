import { BmadError, ERROR_CODES } from '../../base/errors.ts';
import { t, say } from '../../base/text/message.ts';
import type { Prompt } from './ask/picker.ts';
import type { Colour, Line, Look } from './screen/paint.ts';
import { stepLines } from '../../base/step.ts';
import { byteLength, kilobytes } from '../../base/text/text.ts';
import { commandLine } from '../../operations/offers.ts';
import type { Answer } from '../../operations/operation.ts';
import type { Sight } from './screens/index.ts';

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

const SHOWN = 'Hidden characters are shown as escapes; with --raw, a pipe or a file gets them as they are.';

/** Prints an answer: drawn for a person who looks at it, as plain text for everybody else. */
export async function printAnswer(
  operation: string,
  data: Record<string, unknown>,
  answer: Answer,
  raw: boolean,
  terminal: Terminal,
): Promise<void> {
  const { body, note, exact, json: isJson, steps = [] } = answer;
  const { answers, remarks } = terminal;
  const screens = answers === undefined && remarks === undefined ? undefined : await loadScreens();
  // What is a file stays one, to be copied; a Markdown file is drawn as others are, unless it is asked for as it is.
  const isFile = exact === true && (raw || data['mimeType'] !== 'text/markdown');
  let drawn: Line[] = [];
  let shown = false;
  if (answers !== undefined && remarks !== undefined && screens !== undefined) {
    const told = forModel(operation, data);
    if (told.length > 0) remarks.show([...screens.remarkLines({}, told, [], sight(remarks)), []]);
  }
  if (isJson === true && !raw) terminal.json(body);
  else if (answers !== undefined && screens !== undefined && !isFile) {
    drawn = screens.answerLines(operation, data, answer, sight(answers));
    answers.show(drawn);
  } else if (exact === true) shown = terminal.file(body, raw);
  else terminal.out(body.endsWith('\n') ? body : `${body}\n`);
  // A file may end in the middle of a line; what is said about it begins a new one.
  const gap = exact === true && drawn.length === 0 && body !== '' && !body.endsWith('\n') ? '\n' : '';
  if (remarks !== undefined && screens !== undefined) {
    const said = screens.remarkLines(answer, shown ? [say(SHOWN)] : [], drawn, sight(remarks));
    if (said.length > 0) {
      terminal.err(gap);
      remarks.show(drawn.length === 0 ? said : [[], ...said]);
    }
    return;
  }
  const said = [
    ...(note === undefined ? [] : [note]),
    ...(shown ? [say(SHOWN)] : []),
    ...stepLines(steps, commandLine),
  ];
  if (said.length > 0) terminal.err(`${gap}${said.join('\n')}\n`);
}

/** The text for a model goes to the clipboard, as it is; the person hears what to do with it. */
export async function copied({ body, note, steps = [] }: Answer, terminal: Terminal): Promise<void> {
  const text = [body, note, ...stepLines(steps, commandLine)].filter(Boolean).join('\n');
  await terminal.copy?.(text);
  terminal.err(t`Copied, ${kilobytes(byteLength(text))}. Paste it where a model reads it.\n`);
}

/** A person who starts an agent at a terminal sees a text that speaks to a model: that is said first, and what to do instead. */
function forModel(operation: string, data: Record<string, unknown>): string[] {
  const started = operation === 'bmad' && data['operation'] === 'execute' ? data['result'] : data;
  if (started === data && operation !== 'execute') return [];
  const { name } = started as { name?: unknown };
  if (typeof name !== 'string') return [];
  const short = name.replace(/^.*\//, '').replace(/^bmad-(?:agent-)?/, '');
  return [
    t`What follows is the text that a model is given. To put one to work, say in your host: use bmad, start ${short}. With --copy the text goes to the clipboard.`,
  ];
}

const sight = ({ look }: Canvas): Sight => ({ width: look.width });

/** What draws is loaded where somebody looks. */
const loadScreens = () => import('./screens/index.ts');

/** Prints help, and what the parser says of a command line that it does not understand, in the language of the person. */
export async function printHelp(text: string, stream: 'out' | 'err', terminal: Terminal): Promise<void> {
  const canvas = stream === 'out' ? terminal.answers : terminal.remarks;
  if (text === '') return;
  if (canvas === undefined) terminal[stream](text);
  else canvas.show((await loadScreens()).helpLines(text, canvas.look.width));
}

/** Prints an error; answers with the exit code. */
export async function report(error: BmadError, json: boolean, terminal: Terminal): Promise<number> {
  if (json) {
    const { code, message, subject, suggestions } = error;
    const hint = error.wayOut(commandLine);
    terminal.json(`${JSON.stringify({ error: { code, message, hint, subject, suggestions } }, null, 2)}\n`);
  } else if (terminal.remarks !== undefined) {
    const { errorLines } = await loadScreens();
    terminal.remarks.show(errorLines(error, sight(terminal.remarks)));
  } else {
    terminal.err(`${error.textWith(commandLine)}\n`);
  }
  return ERROR_CODES[error.code].exit;
}
