import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { BmadError } from '../errors.ts';
import { hasBlockingFile } from '../files/repository.ts';
import { type FoundProgram, ownProgram } from '../files/find-program.ts';
import { cannotStart, killGroup, startProgram } from './start-program.ts';

export type { ProgramEnvironment } from './start-program.ts';

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
  parts: readonly Buffer[];
  text(): string;
} {
  const parts: Buffer[] = [];
  let length = 0;
  return {
    async consume(output) {
      for await (const part of output) {
        if (length < mostBytes) parts.push(part);
        length += part.length;
      }
    },
    parts,
    text: () => Buffer.concat(parts).toString('utf8'),
  };
}

export interface WatchedOptions {
  cwd: string;
  env: Readonly<Record<string, string>>;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  onOutput(chunk: Buffer, from: 'stdout' | 'stderr'): void;
}

export interface WatchedResult {
  /** Exit code; undefined if a signal ended the program. */
  code: number | undefined;
  /** The signal that ended it: its own, another process's, or ours after the time-out. */
  signal: string | undefined;
  timedOut: boolean;
}

/** How long a program may take to clean up after it is asked to stop. */
const GRACE_MS = 2_000;
/** How long the output may stay open after the exit: a process that has left the group may still hold it. */
const HELD_MS = 500;

/**
 * Runs between us and the program, as a separate process: it starts the program in a new process group and ends that
 * group on request, and also when the channel to us breaks because we are gone, by `kill -9` or otherwise. What to run
 * is sent over that channel, so that process lists do not show the environment.
 */
const WATCHER = `
const { spawn, spawnSync } = require('node:child_process');
const self = process;
let child, ending = false, ended = false, deadline = 0;
function strike(signal) {
  try {
    if (self.platform === 'win32')
      spawnSync('taskkill', ['/pid', String(child.pid), '/T', '/F'], { windowsHide: true });
    else self.kill(-child.pid, signal);
    return true;
  } catch { return false; }
}
function leave(message) {
  if (ended) return;
  ended = true;
  if (self.connected) self.send(message, () => self.exit());
  else self.exit();
}
function end() {
  if (ending) return;
  ending = true;
  deadline = Date.now() + ${GRACE_MS};
  if (child === undefined || child.pid === undefined) return leave({ error: 'ENDED' });
  strike('SIGTERM');
  setTimeout(() => strike('SIGKILL'), ${GRACE_MS});
}
self.on('disconnect', end);
self.on('message', (message) => {
  // A program that was cancelled before its start is not started.
  if (message.end || ending) return end();
  const { program, args, cwd, env } = message;
  const failed = (error) => leave({ error: error.code || 'UNKNOWN' });
  try {
    child = spawn(program, args, {
      cwd, env, windowsHide: true, detached: self.platform !== 'win32', stdio: ['ignore', 'inherit', 'inherit'],
    });
  } catch (error) { return failed(error); }
  child.on('error', failed);
  // The caller may be gone by now. Without a callback, the failure would end this process and leave the group.
  child.once('spawn', () => self.connected && self.send({ pid: child.pid }, () => {}));
  child.once('exit', (code, signal) => {
    const report = { code, signal };
    (function rest() {
      if (ending && Date.now() < deadline && strike(0)) return setTimeout(rest, 20);
      strike('SIGKILL');
      leave(report);
    })();
  });
});
if (!self.connected) end();
`;

interface Report {
  pid?: number;
  error?: string;
  code?: number | null;
  signal?: string | null;
}

/**
 * Runs a program that may run long, with a list of arguments and nothing on its standard input. Its process group ends
 * with it, with the time-out, with the signal, and with this process. When it is cancelled, the promise is rejected, after
 * the group is gone.
 */
export async function runWatched(
  program: FoundProgram,
  args: readonly string[],
  options: WatchedOptions,
): Promise<WatchedResult> {
  const { signal, timeoutMs, onOutput } = options;
  signal?.throwIfAborted();
  const {
    child: watcher,
    stdout,
    stderr,
  } = await startProgram(ownProgram(process.execPath), ['-e', WATCHER], {
    cwd: options.cwd,
    // An editor that embeds Node has to be switched to plain Node.
    env: { ...options.env, ELECTRON_RUN_AS_NODE: '1' },
    channel: true,
  });
  let heard = false;
  const take =
    (from: 'stdout' | 'stderr') =>
    (chunk: Buffer): void => {
      heard = true;
      onOutput(chunk, from);
    };
  stdout.on('data', take('stdout'));
  stderr.on('data', take('stderr'));

  let report: Report = {};
  let timedOut = false;
  let last: NodeJS.Timeout | undefined;
  watcher.on('message', (message: Report) => {
    report = { ...report, ...message };
  });
  const end = (): void => {
    if (watcher.connected) watcher.send({ end: true }, () => undefined);
    // Do not wait for a watcher that does not do its work.
    last ??= setTimeout(() => {
      killGroup(report.pid);
      watcher.kill('SIGKILL');
    }, GRACE_MS * 3);
  };
  const timer = setTimeout(() => {
    timedOut = true;
    end();
  }, timeoutMs);
  signal?.addEventListener('abort', end, { once: true });
  if (signal?.aborted === true) end();
  watcher.once('exit', () => {
    // The watcher itself may have been killed.
    if (report.code === undefined && report.error === undefined) killGroup(report.pid);
    closeQuiet();
  });
  /** Lets go of the output once no one writes to it, even if a process still could. */
  function closeQuiet(): void {
    heard = false;
    setTimeout(() => {
      // What has arrived in the meantime is read before this is looked at.
      setImmediate(() => {
        if (heard) return closeQuiet();
        stdout.destroy();
        stderr.destroy();
      });
    }, HELD_MS).unref();
  }
  try {
    await new Promise<void>((resolve) => {
      watcher.once('close', () => resolve());
      watcher.send({ program, args, cwd: options.cwd, env: options.env }, () => undefined);
    });
  } finally {
    clearTimeout(timer);
    clearTimeout(last);
    signal?.removeEventListener('abort', end);
  }
  signal?.throwIfAborted();
  if (!timedOut) {
    if (report.error !== undefined)
      throw cannotStart(program, Object.assign(new Error(), { code: report.error }));
    // A watcher that ended before it could start anything was short of what every program needs.
    if (report.pid === undefined) throw cannotStart(process.execPath, undefined);
  }
  return {
    code: report.code ?? undefined,
    signal: report.signal ?? watcher.signalCode ?? undefined,
    timedOut,
  };
}

/**
 * Packages that improve the server and may be missing: they are not part of the bundles, and every user of one has a
 * fallback.
 */
const here = createRequire(import.meta.url);

/** Loads a package; nothing when it is not installed or does not work on this machine. */
export function optionalPackage<T>(name: string): T | undefined {
  try {
    return here(name) as T;
  } catch {
    return undefined;
  }
}

/** The path of a package's file, even if only the package `by` can resolve it; undefined if it does not exist. */
export function optionalFile(specifier: string, by?: string): string | undefined {
  try {
    return (by === undefined ? here : createRequire(here.resolve(by))).resolve(specifier);
  } catch {
    return undefined;
  }
}

/** A program that has answered by then was not kept waiting; to look for what keeps it takes as long as to list all folders. */
const SLOW_MS = 1_000;

/**
 * Runs a program that reads helper files of a project, such as ignore files. The author of the project may have put a pipe
 * in place of one, which nobody ever writes to: where there is one, the program is ended, and the answer is nothing.
 * Looking for it takes longer than most programs do, so it begins when one is slow.
 */
export async function unlessBlocked<T>(
  root: string,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  const [ending, done] = [new AbortController(), new AbortController()];
  const look = async (): Promise<void> => {
    if (await hasBlockingFile(root, done.signal)) ending.abort();
  };
  const timer = setTimeout(() => void look(), SLOW_MS);
  try {
    return await work(AbortSignal.any([signal, ending.signal]));
  } catch (error) {
    if (ending.signal.aborted && !signal.aborted) return undefined;
    throw error;
  } finally {
    clearTimeout(timer);
    done.abort();
  }
}
