import { createRequire } from 'node:module';
import type * as readline from 'node:readline/promises';
import { CLI_PROGRAM } from '../base/product.ts';
import { visibleJson, visibleLines } from '../base/text/hidden.ts';
import type { Canvas } from '../surfaces/cli/terminal.ts';
import { type Colour, type Look, lookOf, painted, type Span } from '../surfaces/cli/screen/paint.ts';

export interface Stream {
  write(text: string): unknown;
  isTTY?: boolean;
  columns?: number;
}

/** Where it is written. */
export interface Streams {
  readonly stdout: Stream;
  readonly stderr: Stream;
}

/**
 * The one place that writes to a terminal. Texts come from files, tasks and memories that anybody may have written:
 * nothing in them may steer the terminal, or look like something other than it is.
 */
export const printerOn = (streams: Streams) => ({
  /** The answer of a command, for people. */
  out(text: string): void {
    streams.stdout.write(visibleLines(text));
  },
  /** Everything else that is said to people. */
  err(text: string): void {
    streams.stderr.write(visibleLines(text));
  },
});

/** What only commands print, which servers need not load. */
export const answersOn = (streams: Streams) => ({
  /** Data for programs. What is hidden in it is written as escapes of JSON, so that nothing is lost. */
  json(text: string): void {
    streams.stdout.write(visibleJson(text));
  },
  /**
   * A file: what it leads to may be a terminal after all, so only a pipe that asks gets it to the byte. A mark at its very
   * beginning only says how it is encoded. Answers whether something had to be made visible.
   */
  file(text: string, raw: boolean): boolean {
    const start = text.startsWith('\uFEFF') ? 1 : 0;
    const shown =
      raw && streams.stdout.isTTY !== true ? text : text.slice(0, start) + visibleLines(text.slice(start));
    streams.stdout.write(shown);
    return shown !== text;
  },
});

/** A stream that a person looks at: what is drawn on it is painted here, and nowhere else. */
export function canvasOn(
  stream: Stream,
  look: Look | undefined,
  program: string = CLI_PROGRAM,
): Canvas | undefined {
  if (look === undefined) return undefined;
  const named = (each: Span): Span =>
    each.style === 'name' && each.text.startsWith(`${CLI_PROGRAM} `)
      ? { ...each, text: program + each.text.slice(CLI_PROGRAM.length) }
      : each;
  return {
    look,
    show: (lines) =>
      void stream.write(
        painted(
          lines.map((spans) => spans.map(named)),
          look,
        ),
      ),
  };
}

/**
 * The same for the streams of this process, by what its environment and the typed flags say of them. A command is shown with
 * what starts the program here, so that it can be copied.
 */
export function canvases(streams: Streams, env: NodeJS.ProcessEnv, colour: Colour, program?: string) {
  return {
    answers: canvasOn(streams.stdout, lookOf(streams.stdout, env, colour), program),
    remarks: canvasOn(streams.stderr, lookOf(streams.stderr, env, colour), program),
  };
}

export const printer = printerOn(process);

/** Whether a person reads what is said on stderr. */
export function errorsAreRead(): boolean {
  return process.stderr.isTTY;
}

/** Asks on stderr, so that what is printed to a file or a pipe stays clean. No answer is an empty one. */
export function lineReader(signal: AbortSignal): ((prompt: string) => Promise<string>) | undefined {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  return async (prompt) => {
    // Servers print as well, and never ask. Not by import(), which the compile cache of Node 20 does not allow.
    const { createInterface } = createRequire(import.meta.url)('node:readline/promises') as typeof readline;
    // Lines are edited by the terminal itself: there is no other writer.
    const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
    try {
      return await Promise.race([
        lines.question(visibleLines(prompt), { signal }),
        new Promise<string>((resolve) => lines.once('close', () => resolve(''))),
      ]);
    } finally {
      lines.close();
    }
  };
}

/** Hears once if the output is lost, as on a full disk. A reader that closes early, such as "head", is not an error. */
export function whenOutputIsLost(act: (code: string) => void): void {
  let lost = false;
  process.stderr.on('error', () => undefined);
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (lost || error.code === 'EPIPE' || error.code === 'EOF') return;
    lost = true;
    act(error.code ?? error.message);
  });
}
