import { createRequire } from 'node:module';
import type { Readable } from 'node:stream';
import { createContext } from '../app/app.ts';
import { BmadError } from '../base/errors.ts';
import { isBelow } from '../base/files/open-file.ts';
import { VERSION } from '../base/product.ts';
import { speaking, t } from '../base/text/message.ts';
import { userStateFolder } from '../config/locations.ts';
import type { RawSettings } from '../config/schema.ts';
import type { Context } from '../operations/context.ts';
import { LISTS, TOOLS } from '../surfaces/mcp/early.ts';
import { serveStreams } from '../surfaces/mcp/stdio.ts';
import { toolList } from '../surfaces/mcp/tools.ts';
import type { EarlyStart } from './first-answers.ts';
import { fail, httpPort, outside, readyLine, serverFile, serverFlags, wordsFor } from './outside.ts';
import { printer } from './printer.ts';
import { protocolOutput } from './program-place.ts';

async function main(early: EarlyStart | undefined): Promise<void> {
  const { settings, switches, values } = serverFlags();
  // The other program has the texts of both.
  if (switches.has('help')) return loadHttp();
  if (switches.has('version')) return printer.out(`${VERSION}\n`);
  const overHttp = httpPort(switches.has('http'), values.port) !== undefined;
  if (overHttp && !switches.has('test')) return loadHttp();
  const context = await createContext(outside(settings));
  const alone = switches.has('new-token') ? '--new-token' : a2aFlagIn(settings, context);
  if (!overHttp && alone !== undefined)
    throw new BmadError('invalid_input', t`${alone} requires --http.`, {
      hint: t`Over stdin and stdout, the host that started the server is its only client.`,
    });
  const ready = (): Promise<string> => readyLine(context, toolList);
  if (switches.has('test')) return printer.out(`${await ready()}\n`);
  if (process.stdin.isTTY) {
    const { atTerminal } = await import('./start-screen.ts');
    const { input, printed } = atTerminal(ready, await wordsFor(settings), serverFile());
    await serve(context, undefined, input);
    return printed;
  }
  const words = switches.has('summary') ? await wordsFor(settings) : undefined;
  const summary = switches.has('summary') ? speaking(words, ready) : undefined;
  const printed = summary?.then((line) => printer.err(`${line}\n`));
  await serve(context, early);
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

/** Whether the answers of a connection are for the project of the working directory. */
async function isOfHere(context: Context): Promise<boolean> {
  const { root } = await context.describeProject();
  return context.config.project !== undefined || root === undefined || isBelow(root, process.cwd());
}

/** Serves until the client leaves, a signal comes, or the host is gone without closing the pipe. */
async function serve(
  context: Context,
  early: EarlyStart | undefined,
  input: Readable = early?.input ?? process.stdin,
): Promise<void> {
  let leave: Promise<() => Promise<void>> | undefined;
  early?.first.serve(context.tools.agents ? [...LISTS, TOOLS] : LISTS, () => isOfHere(context));
  const connection = serveStreams(context, input, protocolOutput(), early?.first, (client) => {
    leave = enlisted(context, client);
  });
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
    const { enlist } = await import('./stdio-servers.ts');
    return await enlist(context, userStateFolder(outside({})), client);
  } catch (error) {
    context.log.info('instances', { error: String(error) });
    return none;
  }
}

/** The library has its server from here. */
export { serveTransport } from '../surfaces/mcp/stdio.ts';

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
