import { isAutomatic, type Colour } from '../surfaces/cli/screen/look.ts';
import type { Keyboard, StatusLine } from '../surfaces/cli/terminal.ts';
import { keyboardOn, type KeySource } from './keyboard.ts';
import { canvases, lineReader, type Stream, type Streams } from './printer.ts';
import { statusLine } from './status-line.ts';

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
  const plain = canvases({ stdout, stderr }, env, colour);
  const look = plain.remarks?.look;
  const sits = stdin.isTTY === true && stdout.isTTY === true && !json && !quiet && !isAutomatic(env);
  const readLine = sits ? lineReader(signal) : undefined;
  if (look?.live !== true || quiet) return { streams: { stdout, stderr }, canvases: plain, readLine };
  const status = statusLine(stderr, look);
  const streams = { stdout: after(status, stdout), stderr: after(status, stderr) };
  const drawn = { streams, canvases: canvases(streams, env, colour), status };
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
