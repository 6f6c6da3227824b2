import { t } from '../text/message.ts';
import { spawn, type ChildProcess } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { BmadError, shortageIn, systemCode } from '../errors.ts';

export type ProgramEnvironment = Readonly<Record<string, string | undefined>>;

declare const FOUND: unique symbol;

/** A program that may be started: found where no project provides it, or one of the exceptions below, each by its name. */
export type FoundProgram = string & { readonly [FOUND]: true };

export interface StartOptions {
  cwd?: string | undefined;
  env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Whether something can be written to its standard input; otherwise nothing is on it. */
  input?: boolean;
  /** A channel for messages to and from it, which has to be another Node. */
  channel?: boolean;
}

export interface Started {
  child: ChildProcess;
  stdin: Writable | undefined;
  stdout: Readable;
  stderr: Readable;
}

/**
 * The only place where programs are started: with a list of arguments and never by a shell, in a process group of their
 * own. Whatever keeps one from starting is the answer to the call that wanted it. A process without a listener for errors
 * would end this one, so nothing is done with it, and nobody gets it, before it has one and has started: without file
 * handles, it does not even have the streams that its type promises.
 */
export function startProgram(
  program: FoundProgram,
  args: readonly string[],
  { cwd, env, input = false, channel = false }: StartOptions,
): Promise<Started> {
  return new Promise((resolve, reject) => {
    const failed = (error: unknown): void => reject(cannotStart(program, error));
    let child: ChildProcess;
    try {
      child = spawn(program, args, {
        cwd,
        env,
        shell: false,
        windowsHide: true,
        detached: process.platform !== 'win32',
        stdio: [input ? 'pipe' : 'ignore', 'pipe', 'pipe', ...(channel ? ['ipc' as const] : [])],
      });
    } catch (error) {
      // Some reasons, such as a lack of memory, are thrown.
      failed(error);
      return;
    }
    // It stays: what cannot be ended, or no longer hears what it is sent, is no reason to end here either.
    child.on('error', failed);
    child.once('spawn', () => {
      const { stdin, stdout, stderr } = child;
      if (stdout === null || stderr === null) {
        failed(undefined);
        return;
      }
      for (const stream of [stdin, stdout, stderr]) stream?.on('error', () => undefined);
      resolve({ child, stdin: stdin ?? undefined, stdout, stderr });
    });
  });
}

/** Why a program could not be started, as a system code; nothing for all other errors. */
export function notStarted(error: unknown): string | undefined {
  if (!(error instanceof BmadError) || error.reason !== 'start') return undefined;
  return systemCode(error.cause) ?? 'unknown';
}

/** The program is not there, or is none: another way may do. A machine that is short of something can start no other. */
export function isNoProgram(error: unknown): boolean {
  return ['ENOENT', 'EACCES', 'EPERM', 'ENOTDIR', 'ENOEXEC', 'ELOOP'].includes(notStarted(error) ?? '');
}

export function cannotStart(program: string, cause: unknown): BmadError {
  return new BmadError('unavailable', t`${program} cannot be started (${systemCode(cause) ?? t`unknown`}).`, {
    reason: 'start',
    subject: program,
    hint: shortageIn(cause) ?? t`Check that it is installed and executable, then try again.`,
    cause,
  });
}

export function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL');
  } catch {
    // The group is already gone, as intended.
  }
}
