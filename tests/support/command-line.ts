import { speaking } from '../../src/base/text/message.ts';
import { createContext } from '../../src/app/app.ts';
import { spokenWords } from '../../src/app/spoken-language.ts';
import { BmadError, ERROR_CODES } from '../../src/base/errors.ts';
import { CLI_PROGRAM } from '../../src/base/product.ts';
import { answersOn, canvases, printerOn } from '../../src/bin/printer.ts';
import { extractSettings, settingsHelp } from '../../src/config/flags.ts';
import type { Context } from '../../src/operations/context.ts';
import { isDone } from '../../src/surfaces/cli/ask/picker.ts';
import { extractPresentation, type Terminal } from '../../src/surfaces/cli/terminal.ts';
import { runProgram } from '../../src/surfaces/cli/program.ts';
import { textOf } from '../../src/surfaces/cli/screen/paint.ts';
import { outsideHere } from './app.ts';
import type { Ended } from './programs.ts';

const PRESETS = { answerBytes: '400000' };

interface Here {
  cwd: string;
  env: Record<string, string>;
  /** Whether it prints to a terminal; into pipes otherwise. */
  terminal?: boolean;
  /** How wide that is. */
  columns?: number;
  /** What the person at it types, a line for each question: then there is one. */
  typed?: readonly string[];
}

/** A person who answers each question with the next of these lines; Ctrl+C, once there is none left. */
function typing(typed: readonly string[]): Pick<Terminal, 'keyboard' | 'readLine'> & { said: string[] } {
  const left = [...typed];
  const said: string[] = [];
  const next = (): string => {
    const own = left.shift();
    if (own === undefined) throw new BmadError('cancelled', 'Nothing was changed.');
    return own;
  };
  return {
    said,
    async readLine(prompt) {
      said.push(prompt);
      return next();
    },
    keyboard: {
      async ask(prompt) {
        let state = prompt.start;
        const keys = [...Array.from(next(), (text) => ({ text })), { name: 'return' }];
        for (const key of keys) {
          const pressed = prompt.press(state, key);
          said.push(prompt.draw(state, { width: 100, height: 24 }).lines.map(textOf).join('\n'));
          if (isDone(pressed)) return pressed.done;
          state = pressed;
        }
        throw new Error('The question is still open.');
      },
    },
  };
}

/**
 * Runs a command line as `bmad` does, in this process. A start takes longer than most of what commands do: this is for
 * tests of what they say, where others start the program.
 */
export async function bmadHere(
  args: readonly string[],
  { cwd, env, terminal = false, columns, typed }: Here,
): Promise<Ended & { screen: string; asked: string }> {
  const person = typed === undefined ? undefined : typing(typed);
  const [stdout, stderr, screen]: [string[], string[], string[]] = [[], [], []];
  const stream = (texts: string[]) => ({
    write: (text: string) => texts.push(text) + screen.push(text),
    isTTY: terminal,
    ...(columns === undefined ? {} : { columns }),
  });
  const streams = { stdout: stream(stdout), stderr: stream(stderr) };
  const printer = printerOn(streams);
  let context: Context | undefined;
  let code: number;
  try {
    const { settings, rest: others } = extractSettings(args);
    const { how, rest } = extractPresentation(others);
    const outside = {
      ...outsideHere({ cwd, home: env['HOME'] ?? '', flags: settings, env }),
      presets: PRESETS,
      writeError: printer.err,
      terminal,
      patient: true,
    };
    const open = async (): Promise<Context> => (context ??= await createContext(outside));
    const shown = {
      ...printer,
      ...answersOn(streams),
      ...canvases(streams, env, how.colour),
      signal: new AbortController().signal,
      ...(person === undefined ? {} : { keyboard: person.keyboard, readLine: person.readLine }),
      settingsHelp: (common: boolean) => settingsHelp(PRESETS, { common }),
    };
    const words =
      args.includes('--json') && !args.includes('--help') ? undefined : await spokenWords(outside);
    code = await speaking(words, () => runProgram(rest, open, shown));
  } catch (thrown) {
    const error = BmadError.from(thrown, (id, original) =>
      printer.err(`incident ${id}: ${String(original)}\n`),
    );
    printer.err(`${CLI_PROGRAM}: ${error.text}\n`);
    code = ERROR_CODES[error.code].exit;
  } finally {
    context?.close();
  }
  return {
    code,
    stdout: Buffer.from(stdout.join('')),
    stderr: stderr.join(''),
    screen: screen.join(''),
    asked: person?.said.join('\n') ?? '',
  };
}
