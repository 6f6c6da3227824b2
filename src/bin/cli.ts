import { createContext } from '../app.ts';
import { BmadError, ERROR_CODES } from '../base/errors.ts';
import { CLI_PROGRAM } from '../base/product.ts';
import { extractSettings, settingsHelp } from '../config/flags.ts';
import type { Context } from '../operations/context.ts';
import { runProgram } from '../surfaces/cli/program.ts';
import { outside, programArguments } from './outside.ts';

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
      // Whoever asks twice does not want to wait for a tidy end.
      process.once(signal, () => process.exit(130));
    });
  }
  // A reader that closes early, such as "head", is no reason to complain.
  process.stdout.on('error', () => process.exit(0));
  return runProgram(rest, open, {
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
    signal: interrupted.signal,
    settingsHelp: settingsHelp(PRESETS, { common: true }),
  });
}

async function run(): Promise<void> {
  try {
    process.exitCode = await main();
  } catch (thrown) {
    const error = BmadError.from(thrown, (id, original) =>
      process.stderr.write(
        `incident ${id}: ${original instanceof Error ? (original.stack ?? '') : String(original)}\n`,
      ),
    );
    process.stderr.write(`${CLI_PROGRAM}: ${error.text}\n`);
    process.exitCode = ERROR_CODES[error.code].exit;
  }
}

void run();
