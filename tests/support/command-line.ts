import { createContext } from '../../src/app/app.ts';
import { BmadError, ERROR_CODES } from '../../src/base/errors.ts';
import { CLI_PROGRAM } from '../../src/base/product.ts';
import { visibleJson, visibleLines } from '../../src/base/text/hidden.ts';
import { extractSettings, settingsHelp } from '../../src/config/flags.ts';
import type { Context } from '../../src/operations/context.ts';
import { runProgram } from '../../src/surfaces/cli/program.ts';
import { contentRoot, serverFile } from './app.ts';
import type { Ended } from './programs.ts';

const PRESETS = { answerBytes: '400000' };

/**
 * Runs a command line as `bmad` does into pipes, in this process. A start takes longer than most of what commands do: this
 * is for tests of what they say, where others start the program.
 */
export async function bmadHere(
  args: readonly string[],
  { cwd, env }: { cwd: string; env: Record<string, string> },
): Promise<Ended> {
  const [stdout, stderr]: [string[], string[]] = [[], []];
  const err = (text: string): void => void stderr.push(visibleLines(text));
  let context: Context | undefined;
  let code: number;
  try {
    const { settings, rest } = extractSettings(args);
    const open = async (): Promise<Context> =>
      (context ??= await createContext({
        flags: settings,
        presets: PRESETS,
        env,
        cwd,
        home: env['HOME'] ?? '',
        platform: process.platform,
        contentRoot,
        serverCommand: [process.execPath, serverFile],
        writeError: err,
        terminal: false,
        patient: true,
      }));
    code = await runProgram(rest, open, {
      out: (text) => void stdout.push(visibleLines(text)),
      err,
      json: (text) => void stdout.push(visibleJson(text)),
      file(text, raw) {
        const start = text.startsWith('\uFEFF') ? 1 : 0;
        const shown = raw ? text : text.slice(0, start) + visibleLines(text.slice(start));
        stdout.push(shown);
        return shown !== text;
      },
      signal: new AbortController().signal,
      settingsHelp: settingsHelp(PRESETS, { common: true }),
    });
  } catch (thrown) {
    const error = BmadError.from(thrown, (id, original) => err(`incident ${id}: ${String(original)}\n`));
    err(`${CLI_PROGRAM}: ${error.text}\n`);
    code = ERROR_CODES[error.code].exit;
  } finally {
    context?.close();
  }
  return { code, stdout: Buffer.from(stdout.join('')), stderr: stderr.join('') };
}
