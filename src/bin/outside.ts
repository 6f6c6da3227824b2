import { DEFAULT_PORT } from '../config/http-settings.ts';
import { homedir, userInfo } from 'node:os';
import { isAbsolute, join, parse } from 'node:path';
import type { Outside } from '../app/app.ts';
import type { Settings } from '../app/settings.ts';
import { BmadError, ERROR_CODES, quoted } from '../base/errors.ts';
import { CLI_PROGRAM, SERVER_PROGRAM } from '../base/product.ts';
import { type Catalogue, t } from '../base/text/message.ts';
import { type ParsedFlags, parseFlags } from '../config/flags.ts';
import type { RawSettings } from '../config/schema.ts';
import type { Context } from '../operations/context.ts';
import type { toolList } from '../surfaces/mcp/tools.ts';
import { errorsAreRead, printer } from './printer.ts';
import { programArguments, programFolder, SERVE } from './program-place.ts';

/** The only place that looks at the process's environment, arguments and streams for the rest of the code. */
export function outside(
  flags: Outside['flags'],
  { presets = {}, patient = false }: Partial<Pick<Outside, 'presets' | 'patient'>> = {},
): Outside {
  return {
    flags,
    presets,
    env: process.env,
    cwd: workingFolder(),
    home: homeFolder(),
    platform: process.platform,
    contentRoot: join(programFolder, 'content'),
    serverCommand: [process.execPath, serverFile()],
    ownProgram: [process.execPath, join(programFolder, `${CLI_PROGRAM}.cjs`)],
    writeError: printer.err,
    terminal: errorsAreRead(),
    patient,
  };
}

/** The file hosts start: an absolute path, so that no registry and no PATH is involved. */
export function serverFile(): string {
  return join(programFolder, `${SERVER_PROGRAM}.cjs`);
}

function workingFolder(): string {
  try {
    return process.cwd();
  } catch {
    return homeFolder();
  }
}

/**
 * HOME may be empty, or hold a `~` that nobody has resolved. It would then be a place in the project, which must not pass
 * for the user's own: what the system knows counts, else the root of the disk, which is never a project.
 */
function homeFolder(): string {
  for (const told of [homedir, () => userInfo().homedir]) {
    try {
      const home = told();
      if (isAbsolute(home)) return home;
    } catch {
      // The system does not know this user.
    }
  }
  return parse(programFolder).root;
}

/** The words that the person at the terminal is spoken to in; nothing for English. What knows other languages is loaded only then. */
export async function wordsFor(
  settings: RawSettings,
  read?: () => Promise<Settings>,
): Promise<Catalogue | undefined> {
  // Who says so needs none of what finds out.
  const asked = [settings.language ?? process.env['BMAD_LANG'] ?? []].flat().at(-1);
  if (asked === 'en') return undefined;
  const { spokenWords } = await import('../app/spoken-language.ts');
  return spokenWords(outside(settings), read?.());
}

const SWITCHES = ['help', 'version', 'test', 'summary', 'http', 'new-token'] as const;
const VALUES = ['port'] as const;

type ServerFlags = ParsedFlags<(typeof SWITCHES)[number], (typeof VALUES)[number]>;

/** The command line of the server, which its two programs read alike. `bmad serve` is the same server over HTTP. */
export function serverFlags(typed = programArguments()): ServerFlags {
  const [first, ...rest] = typed;
  return parseFlags(first === SERVE ? ['--http', ...rest] : typed, SWITCHES, VALUES);
}

/** Prints to stderr why a program could not start or continue. */
export function fail(thrown: unknown, program = SERVER_PROGRAM): void {
  const error = BmadError.from(thrown, (id, original) =>
    printer.err(`incident ${id}: ${String(original instanceof Error ? original.stack : original)}\n`),
  );
  printer.err(`${program}: ${error.text}\n`);
  process.exitCode = ERROR_CODES[error.code].exit;
}

const LAST_PORT = 65_535;

/** The port to serve HTTP on; nothing, if it was not asked for. */
export function httpPort(asked: boolean, typed: string | undefined): number | undefined {
  if (!asked && typed !== undefined)
    throw new BmadError('invalid_input', t`--port requires --http.`, {
      hint: t`Without --http the server uses stdin and stdout and does not open a port.`,
    });
  if (!asked) return undefined;
  const port = typed === undefined ? DEFAULT_PORT : Number(typed);
  if (typed?.trim() === '' || !Number.isInteger(port) || port < 0 || port > LAST_PORT)
    throw new BmadError('invalid_input', t`--port: ${quoted(typed ?? '')} is not a port.`, {
      hint: t`Use a number up to ${LAST_PORT}; 0 picks a free port. The default is ${DEFAULT_PORT}.`,
    });
  return port;
}

/** Beyond the time that running calls are given. */
const GRACE_MS = 2_000;

/** The first signal lets running calls finish; the second one exits without waiting. */
export function hearSignals(finishMs: number, end: () => Promise<void>): void {
  let asked = false;
  const stop = (): void => {
    if (asked) process.exit(130);
    asked = true;
    // A call that does not notice its end must not keep the process.
    setTimeout(() => process.exit(0), finishMs + GRACE_MS).unref();
    void end();
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, stop);
}

/** What was found, in one line for people; only they need what says it. The command line has no tools, and does not contain them. */
export async function readyLine(context: Context, list: typeof toolList): Promise<string> {
  const tools = await list(context, { signal: new AbortController().signal, progress: () => undefined });
  return (await import('./start-screen.ts')).foundLine(context, tools.length);
}
