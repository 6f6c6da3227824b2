import { createInterface } from 'node:readline';
import { BmadError } from '../errors.ts';
import type { FoundProgram } from '../files/find-program.ts';
import { killGroup, startProgram } from './start-program.ts';

export type ProgramEnvironment = Readonly<Record<string, string | undefined>>;

export interface ProgramOptions {
  cwd?: string;
  env?: Record<string, string | undefined>;
  /** Written to the program's standard input, which then stays open until `until` is satisfied. */
  input?: string;
  /** Called for each line of output; standard input is closed when it returns true. */
  until?: (line: string) => boolean;
  /** Called with what it writes to standard error, as it comes. */
  onError?: (text: string) => void;
  /** Takes the output as bytes instead of lines. If it fails, the program is ended. */
  consume?: (output: AsyncIterable<Buffer>) => Promise<void>;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

export interface ProgramResult {
  /** Exit code; undefined if the program was ended by a signal. */
  code: number | undefined;
  lines: string[];
  /** The last part of what it wrote to standard error. */
  stderr: string;
  timedOut: boolean;
}

const KEPT_LINES = 10_000;
const KEPT_STDERR = 8_000;

/**
 * Runs a program with a list of arguments: no shell ever sees them. The whole process group ends with the program, the
 * time-out or the signal; a child that has left the group cannot keep the call waiting by holding on to the output.
 */
export async function runProgram(
  program: FoundProgram,
  args: readonly string[],
  options: ProgramOptions,
): Promise<ProgramResult> {
  options.signal?.throwIfAborted();
  const { cwd, env } = options;
  const { child, stdin, stdout, stderr } = await startProgram(program, args, { cwd, env, input: true });
  const result: ProgramResult = { code: undefined, lines: [], stderr: '', timedOut: false };
  const end = (): void => {
    killGroup(child.pid);
    stdout.destroy();
    stderr.destroy();
  };
  const timer = setTimeout(() => {
    result.timedOut = true;
    end();
  }, options.timeoutMs);
  options.signal?.addEventListener('abort', end, { once: true });
  if (options.signal?.aborted === true) end();
  child.once('exit', () => killGroup(child.pid));

  stdin?.write(options.input ?? '');
  if (options.until === undefined) stdin?.end();
  let consumed: Promise<void> = Promise.resolve();
  if (options.consume === undefined) {
    createInterface({ input: stdout, crlfDelay: Infinity }).on('line', (line) => {
      if (result.lines.length < KEPT_LINES) result.lines.push(line);
      if (options.until?.(line) === true) stdin?.end();
    });
  } else {
    consumed = options.consume(stdout);
    consumed.catch(end);
  }
  stderr.setEncoding('utf8').on('data', (chunk: string) => {
    result.stderr = (result.stderr + chunk).slice(-KEPT_STDERR);
    options.onError?.(chunk);
  });

  try {
    result.code = await new Promise<number | undefined>((resolve) => {
      child.once('close', (code) => resolve(code ?? undefined));
    });
    // Truncated output follows from an ended program, which the result reports; an error of the consumer itself is the
    // reason.
    await consumed.catch((error: unknown) => {
      if (result.code === 0 || error instanceof BmadError) throw error;
    });
    return result;
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener('abort', end);
  }
}

/** Takes in all that a program writes, or the beginning of it. */
export function intake(mostBytes = Infinity): {
  consume: NonNullable<ProgramOptions['consume']>;
  text(): string;
} {
  const parts: Buffer[] = [];
  let bytes = 0;
  return {
    async consume(output) {
      for await (const part of output) {
        if (bytes < mostBytes) parts.push(part);
        bytes += part.length;
      }
    },
    text: () => Buffer.concat(parts).toString('utf8'),
  };
}
