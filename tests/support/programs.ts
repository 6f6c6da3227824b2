import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { getDefaultEnvironment } from '@modelcontextprotocol/client/stdio';
import { cliFile, repository, serverFile } from './app.ts';

export interface Ended {
  code: number | null;
  stdout: Buffer;
  stderr: string;
}

export interface RunOptions {
  cwd: string;
  env: Record<string, string>;
  /** The file to run, where it is not the one in dist. */
  file?: string;
}

/** The environment of a machine on which nobody has configured anything: it has a PATH and an empty home folder. */
export function bareEnvironment(home: string, more: Record<string, string> = {}): Record<string, string> {
  return {
    ...getDefaultEnvironment(),
    HOME: home,
    USERPROFILE: home,
    APPDATA: home,
    LOCALAPPDATA: home,
    // Tests share a home, and what one starts must not change the order of lists for the next.
    BMAD_USAGE: 'false',
    // Most servers of tests are asked for little and end soon after; the tests of warming switch it on.
    BMAD_PREWARM: 'false',
    // To find out which language a person has takes a look at the project; the tests of French leave it open.
    BMAD_LANG: 'en',
    // One for all: with a home each, nothing would be compiled twice by the same program.
    NODE_COMPILE_CACHE: join(repository, '.cache/compiled'),
    ...more,
  };
}

/** A program and its arguments, so that it may have only so many files open. Not on Windows. */
export function withHandles(
  most: number | undefined,
  program: string,
  args: readonly string[],
): [program: string, args: string[]] {
  if (most === undefined) return [program, [...args]];
  return ['bash', ['-c', 'ulimit -n "$0" && exec "$@"', String(most), program, ...args]];
}

/** Runs the command line to its end. */
export function bmad(args: readonly string[], { file = cliFile, ...options }: RunOptions): Promise<Ended> {
  return runToEnd(process.execPath, [file, ...args], options);
}

/** Runs the server program with flags that make it end by itself. */
export function bmadServer(
  args: readonly string[],
  { file = serverFile, ...options }: RunOptions,
): Promise<Ended> {
  return runToEnd(process.execPath, [file, ...args], options);
}

/** Runs a program without anything on its stdin and gathers what it wrote. */
export function runToEnd(
  program: string,
  args: readonly string[],
  { cwd, env }: { cwd: string; env: Record<string, string> },
): Promise<Ended> {
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) =>
      resolve({ code, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString('utf8') }),
    );
  });
}
