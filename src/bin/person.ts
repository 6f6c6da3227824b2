import type * as readline from 'node:readline';
import { createRequire } from 'node:module';
import { BmadError, ours } from '../base/errors.ts';
import { t } from '../base/text/message.ts';
import { isDone, type Key, type Prompt } from '../surfaces/cli/ask/picker.ts';
import {
  type Colour,
  isAutomatic,
  line,
  type Look,
  overwritten,
  painted,
  repainted,
  span,
} from '../surfaces/cli/screen/paint.ts';
import { cutLine } from '../surfaces/cli/screen/text.ts';
import type { Keyboard, StatusLine } from '../surfaces/cli/terminal.ts';
import { typedCommand } from './program-place.ts';
import { canvases, lineReader, type Stream, type Streams } from './printer.ts';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { programsBesides } from '../base/files/find-program.ts';
import { startProgram } from '../base/process/start-program.ts';

/** What of the terminal is for the person at it. */
export interface PersonAtTerminal {
  streams: Streams;
  canvases: ReturnType<typeof canvases>;
  readLine?: ((prompt: string) => Promise<string>) | undefined;
  keyboard?: Keyboard | undefined;
  status?: StatusLine | undefined;
}

export interface How {
  colour: Colour;
  quiet: boolean;
  json: boolean;
}

interface Process extends Streams {
  readonly stdin: KeySource;
}

/**
 * Somebody is asked only where they sit: keys come from a terminal, answers and questions go to one, it is no machine that
 * builds or tests, and neither a program nor silence was asked for.
 */
export function personAt(
  { stdin, stdout, stderr }: Process,
  env: NodeJS.ProcessEnv,
  { colour, quiet, json }: How,
  signal: AbortSignal,
): PersonAtTerminal {
  const program = typedCommand(env);
  const plain = canvases({ stdout, stderr }, env, colour, program);
  const look = plain.remarks?.look;
  const sits = stdin.isTTY === true && stdout.isTTY === true && !json && !quiet && !isAutomatic(env);
  const readLine = sits ? lineReader(signal) : undefined;
  if (look?.live !== true || quiet) return { streams: { stdout, stderr }, canvases: plain, readLine };
  const status = statusLine(stderr, look);
  const streams = { stdout: after(status, stdout), stderr: after(status, stderr) };
  const drawn = { streams, canvases: canvases(streams, env, colour, program), status };
  if (readLine === undefined) return drawn;
  return {
    ...drawn,
    readLine(prompt) {
      status.clear();
      return readLine(prompt);
    },
    keyboard: keyboardOn(stdin, streams.stderr, look, signal),
  };
}

/** A stream on which the status is gone before anything else is written. */
function after(status: StatusLine, stream: Stream): Stream & { rows?: number } {
  return {
    write(text) {
      status.clear();
      return stream.write(text);
    },
    get isTTY() {
      return stream.isTTY === true;
    },
    get columns() {
      return stream.columns ?? 0;
    },
    get rows() {
      return (stream as { rows?: number }).rows ?? 0;
    },
  };
}

/** The keys of a terminal, of which every one comes at once while a question is open. */
export interface KeySource {
  isTTY?: boolean;
  setRawMode?(raw: boolean): unknown;
  on(event: 'keypress', hear: (text: string | undefined, key: readline.Key) => void): unknown;
  off(event: 'keypress', hear: (text: string | undefined, key: readline.Key) => void): unknown;
  resume(): unknown;
  pause(): unknown;
}

/** Where questions are drawn. */
interface Drawn {
  write(text: string): unknown;
  columns?: number;
  rows?: number;
}

const USUAL_ROWS = 24;

/** Asks with single keys. Ctrl+C and Escape end the question, and the command with it: nothing has been done yet. */
export function keyboardOn(keys: KeySource, screen: Drawn, look: Look, signal: AbortSignal): Keyboard {
  return {
    ask: (prompt) => {
      const { emitKeypressEvents } = createRequire(import.meta.url)('node:readline') as typeof readline;
      emitKeypressEvents(keys as unknown as NodeJS.ReadableStream);
      return answered(prompt, { keys, screen, look, signal });
    },
  };
}

interface Place {
  keys: KeySource;
  screen: Drawn;
  look: Look;
  signal: AbortSignal;
}

function answered<State, Value>(
  prompt: Prompt<State, Value>,
  { keys, screen, look, signal }: Place,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    let state = prompt.start;
    let above = 0;
    const draw = (): void => {
      const width = screen.columns || look.width;
      const { lines, cursor } = prompt.draw(state, { width, height: screen.rows || USUAL_ROWS });
      if (prompt.stays === true) return void screen.write(painted(lines, look));
      // A line that the terminal breaks would count twice.
      const fitting = lines.map((each) => cutLine(each, width - 1));
      screen.write(repainted(fitting, look, above, cursor));
      above = cursor === undefined ? fitting.length : cursor.row;
    };
    const end = (settle: () => void): void => {
      keys.off('keypress', hear);
      signal.removeEventListener('abort', leave);
      keys.setRawMode?.(false);
      keys.pause();
      if (prompt.stays !== true) screen.write(repainted([], look, above));
      settle();
    };
    const leave = (): void => end(() => reject(new BmadError('cancelled', t`Nothing was changed.`)));
    const hear = (text: string | undefined, key: readline.Key): void => {
      if (key.name === 'escape' || (key.ctrl === true && /^[cd]$/.test(key.name ?? ''))) return leave();
      const next = prompt.press(state, keyOf(text, key));
      if (isDone(next)) return end(() => resolve(next.done));
      if (next === state) return;
      state = next;
      draw();
    };
    if (signal.aborted) return leave();
    signal.addEventListener('abort', leave);
    keys.setRawMode?.(true);
    keys.on('keypress', hear);
    keys.resume();
    draw();
  });
}

/** What is typed as text, and no code of a key. */
function keyOf(text: string | undefined, { name, ctrl, meta }: readline.Key): Key {
  return { name, ctrl, meta, ...(text !== undefined && /^[^\p{C}]+$/u.test(text) ? { text } : {}) };
}

/** What is done sooner need not be announced. */
const SOON_MS = 700;
const EVERY_MS = 1_000;
/** From here on people want to know how long it has been. */
const LONG_MS = 3_000;

/** One line on stderr that says what is going on, and for how long; gone before anything else is printed. */
export function statusLine(
  stream: { write(text: string): unknown; columns?: number },
  look: Look,
  now: () => number = () => performance.now(),
): StatusLine {
  let began: number | undefined;
  let text = '';
  let drawn = false;
  let timer: NodeJS.Timeout | undefined;
  const draw = (): void => {
    const ms = now() - (began ?? now());
    const seconds = ms < LONG_MS ? '' : ` ${Math.floor(ms / 1_000)} s`;
    const width = (stream.columns || look.width) - 1;
    stream.write(overwritten(cutLine(line(span(`${text} …`), span(seconds, 'muted')), width), look));
    drawn = true;
  };
  const tick = (): void => {
    draw();
    timer = setTimeout(tick, EVERY_MS).unref();
  };
  return {
    show(message) {
      text = message;
      began ??= now();
      if (drawn) draw();
      else if (now() - began >= SOON_MS) {
        clearTimeout(timer);
        tick();
      } else timer ??= setTimeout(tick, SOON_MS).unref();
    },
    clear() {
      clearTimeout(timer);
      timer = undefined;
      began = undefined;
      if (drawn) stream.write(overwritten([], look));
      drawn = false;
    },
  };
}

/** Programs that put what they read into the clipboard, those of the system first. */
const PROGRAMS: Readonly<Partial<Record<NodeJS.Platform, readonly (readonly [string, ...string[]])[]>>> = {
  darwin: [['pbcopy']],
  win32: [['clip']],
};
const OTHERS: readonly (readonly [string, ...string[]])[] = [
  ['wl-copy'],
  ['xclip', '-selection', 'clipboard'],
  ['xsel', '--clipboard', '--input'],
  // A Linux on Windows has the clipboard of Windows.
  ['clip.exe'],
];

/** One that has nothing to connect to has ended by then. */
const STAYS_MS = 1_000;

/** Puts a text into the clipboard of the person, with the first program for it that no project provides. */
export async function copyText(
  text: string,
  env: NodeJS.ProcessEnv,
  cwd: string,
  platform: NodeJS.Platform = process.platform,
): Promise<void> {
  const programs = await programsBesides({ env, besides: [cwd] });
  for (const [name, ...args] of PROGRAMS[platform] ?? OTHERS) {
    const program = await programs.find(name);
    if (program === undefined) continue;
    const started = await startProgram(program, args, { env: programs.env, input: true }).catch(
      ours(() => undefined),
    );
    if (started === undefined) continue;
    const { child, stdin, stdout, stderr } = started;
    const ended = once(child, 'exit') as Promise<[number | null]>;
    stdin?.end(text);
    // One that stays serves the clipboard from then on.
    const [code] = await Promise.race([ended, pause(STAYS_MS, [0] as const, { ref: false })]);
    for (const stream of [stdin, stdout, stderr]) stream?.destroy();
    child.unref();
    if (code === 0) return;
  }
  throw new BmadError('unavailable', t`The text was not copied: no program that copies texts works here.`, {
    hint: t`Install wl-copy or xclip, or pipe the text to where it belongs.`,
  });
}
