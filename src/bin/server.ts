import { createRequire } from 'node:module';
import type { Readable } from 'node:stream';
import { createContext } from '../app/app.ts';
import { BmadError } from '../base/errors.ts';
import { PRODUCT, SERVER_PROGRAM, VERSION } from '../base/product.ts';
import { type Catalogue, speaking, t } from '../base/text/message.ts';
import { settingsHelp } from '../config/flags.ts';
import { userStateFolder } from '../config/locations.ts';
import type { RawSettings } from '../config/schema.ts';
import type { Context } from '../operations/context.ts';
import type { FirstAnswers } from '../surfaces/mcp/early.ts';
import { serveStreams } from '../surfaces/mcp/stdio.ts';
import type { EarlyStart } from './first-answers.ts';
import {
  DEFAULT_PORT,
  fail,
  httpPort,
  outside,
  readyLine,
  serverFile,
  serverFlags,
  wordsFor,
} from './outside.ts';
import { printer } from './printer.ts';
import { protocolOutput } from './program-place.ts';

const help = (): string =>
  t`${PRODUCT} ${VERSION}: serves the BMad Method to an MCP host over stdin and stdout.

Usage: ${SERVER_PROGRAM} [flags] [git source …]   (started by a host; people use the program "bmad")

  --http         Serve over HTTP instead, to this machine only unless --host says otherwise
  --port <port>  Port for --http; 0 picks a free one [${DEFAULT_PORT}]
  --new-token    With --http: replace the stored client token with a new one
  --summary      Print what was found to stderr, then serve
  --test         Check that the server can start, print one line, and exit
  --version      Print the version
  --help         Print this text

Settings, in the order flag, environment, project file, user file, default:
${settingsHelp()}
`;

async function main(early: EarlyStart | undefined): Promise<void> {
  const { settings, switches, values } = serverFlags();
  if (switches.has('help'))
    return switches.has('http')
      ? loadHttp()
      : (await import('./start-screen.ts')).showHelp(speaking(await wordsFor(settings), help));
  if (switches.has('version')) return printer.out(`${VERSION}\n`);
  const overHttp = httpPort(switches.has('http'), values.port) !== undefined;
  if (overHttp && !switches.has('test')) return loadHttp();
  const context = await createContext(outside(settings));
  const alone = switches.has('new-token') ? '--new-token' : a2aFlagIn(settings, context);
  if (!overHttp && alone !== undefined)
    throw new BmadError('invalid_input', t`${alone} requires --http.`, {
      hint: t`Over stdin and stdout, the host that started the server is its only client.`,
    });
  if (switches.has('test')) return printer.out(`${await readyLine(context)}\n`);
  if (process.stdin.isTTY) return serveAtTerminal(context, await wordsFor(settings));
  const words = switches.has('summary') ? await wordsFor(settings) : undefined;
  const summary = switches.has('summary') ? speaking(words, () => readyLine(context)) : undefined;
  const printed = summary?.then((line) => printer.err(`${line}\n`));
  await serve(context, early);
  await printed;
}

/** A person has started it: the screen says what they can do, and "?" says more. */
async function serveAtTerminal(context: Context, words: Catalogue | undefined): Promise<void> {
  const { commandIsFound, showHelp, startHelp, startScreen, withHelp } = await import('./start-screen.ts');
  const said = (make: () => string): void => showHelp(speaking(words, make), 'remarks');
  const printed = speaking(words, () => readyLine(context)).then((summary) =>
    said(() => startScreen({ summary, installed: commandIsFound(process.env, process.platform) })),
  );
  await serve(
    context,
    undefined,
    withHelp(
      process.stdin,
      // Commands in it are copied, so that only the terminal breaks their lines.
      () => printer.err(speaking(words, () => startHelp(serverFile()))),
      () => process.kill(process.pid, 'SIGINT'),
    ),
  );
  await printed;
}

/** As a user setting it may be meant for another day; a flag that turns it on was meant for this start. */
function a2aFlagIn(settings: RawSettings, { config }: Context): string | undefined {
  if ('a2a' in settings && config.a2a) return '--a2a';
  return 'a2aWithoutApproval' in settings && config.a2aWithoutApproval ? '--a2a-without-approval' : undefined;
}

/** The other program: it reads the same command line again. */
function loadHttp(): void {
  createRequire(import.meta.url)('./http.cjs');
}

/** The tools of agents come from the content, so that a list of them may be another one next time. */
function firstAnswers({ tools }: Context, early: EarlyStart | undefined): FirstAnswers | undefined {
  return early !== undefined && tools.agents ? { ...early.first, keep: () => undefined } : early?.first;
}

/** Serves until the client leaves, a signal comes, or the host is gone without closing the pipe. */
async function serve(
  context: Context,
  early: EarlyStart | undefined,
  input: Readable = early?.input ?? process.stdin,
): Promise<void> {
  let leave: Promise<() => Promise<void>> | undefined;
  const connection = serveStreams(
    context,
    input,
    protocolOutput(),
    firstAnswers(context, early),
    (client) => {
      leave = enlisted(context, client);
    },
  );
  const stop = (): void => {
    leaveSoon();
    context.close();
    void connection.close();
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, stop);
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid !== parent) stop();
  }, PARENT_CHECK_MS).unref();
  await connection.ended;
  clearInterval(watch);
  context.close();
  leaveSoon();
  process.stdin.destroy();
  await (
    await leave
  )?.();
}

/** Puts the server on the list of those that hosts have started, which the page shows; a read-only one writes nothing. */
async function enlisted(context: Context, client: string | undefined): Promise<() => Promise<void>> {
  const none = async (): Promise<void> => undefined;
  if (context.config.readOnly) return none;
  try {
    const [{ stdioServers }, { root }] = await Promise.all([
      import('./stdio-servers.ts'),
      context.describeProject(),
    ]);
    return await stdioServers(userStateFolder(outside({}))).add({
      pid: process.pid,
      ...(client === undefined ? {} : { client }),
      roots: root === undefined ? [] : [root],
      started: new Date(performance.timeOrigin).toISOString(),
      version: VERSION,
    });
  } catch (error) {
    context.log.info('instances', { error: String(error) });
    return none;
  }
}

const PARENT_CHECK_MS = 1_000;
const GRACE_MS = 1_000;

/** Whatever still runs must not keep the process alive: hosts count on it being gone. */
function leaveSoon(): void {
  setTimeout(() => process.exit(0), GRACE_MS).unref();
}

/** What was answered before this was loaded comes along, with the input from its first byte. */
export function startServer(early?: EarlyStart): void {
  main(early).catch((error: unknown) => fail(error));
}
