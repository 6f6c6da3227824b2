import { createInterface } from 'node:readline/promises';
import { createContext } from '../app/app.ts';
import { ERROR_CODES } from '../base/errors.ts';
import { CLI_PROGRAM } from '../base/product.ts';
import { extractSettings, settingsHelp } from '../config/flags.ts';
import type { Context } from '../operations/context.ts';
import { runProgram } from '../surfaces/cli/program.ts';
import { outside, programArguments } from './outside.ts';
import { fail } from './server-flags.ts';

/** A terminal has no size limit for answers; hosts do. */
const PRESETS = { answerBytes: '400000' };

async function main(): Promise<number> {
  const { settings, rest } = extractSettings(programArguments());
  const interrupted = new AbortController();
  let opened: Promise<Context> | undefined;
  const open = (): Promise<Context> =>
    (opened ??= createContext(outside(settings, { presets: PRESETS, patient: true })));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      interrupted.abort();
      void opened?.then((context) => context.close());
      // A second signal means the user does not want to wait for a clean exit.
      process.once(signal, () => process.exit(130));
    });
  }
  return runProgram(rest, open, {
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
    signal: interrupted.signal,
    readLine: process.stdin.isTTY && process.stderr.isTTY ? readLine(interrupted.signal) : undefined,
    settingsHelp: settingsHelp(PRESETS, { common: true }),
  });
}

/** Asks on stderr, so that what is printed to a file or a pipe stays clean. No answer is an empty one. */
function readLine(signal: AbortSignal): (prompt: string) => Promise<string> {
  return async (prompt) => {
    const lines = createInterface({ input: process.stdin, output: process.stderr });
    try {
      return await Promise.race([
        lines.question(prompt, { signal }),
        new Promise<string>((resolve) => lines.once('close', () => resolve(''))),
      ]);
    } finally {
      lines.close();
    }
  };
}

/**
 * A reader that closes early, such as "head", is not an error, but the exit code is still that of the command. Output
 * that is lost in another way, as on a full disk, is a failure.
 */
function hearStreams(): void {
  process.stderr.on('error', () => undefined);
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (outputLost || error.code === 'EPIPE' || error.code === 'EOF') return;
    outputLost = true;
    process.stderr.write(
      `${CLI_PROGRAM}: the output could not be written (${error.code ?? error.message})\n`,
    );
    process.exitCode ||= ERROR_CODES.unavailable.exit;
  });
}

let outputLost = false;

async function run(): Promise<void> {
  hearStreams();
  try {
    process.exitCode = (await main()) || (outputLost ? ERROR_CODES.unavailable.exit : 0);
  } catch (thrown) {
    fail(thrown, CLI_PROGRAM);
  }
}

void run();
