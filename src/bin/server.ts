import { createContext } from '../app.ts';
import { BmadError, ERROR_CODES } from '../base/errors.ts';
import { PRODUCT, SERVER_KEY, SERVER_PROGRAM, VERSION } from '../base/product.ts';
import { plural } from '../base/text.ts';
import { parseFlags, settingsHelp } from '../config/flags.ts';
import type { Context } from '../operations/context.ts';
import { toolList } from '../surfaces/mcp/tools.ts';
import { serveStreams } from '../surfaces/mcp/stdio.ts';
import { outside, programArguments, serverFile } from './outside.ts';

const SWITCHES = ['help', 'version', 'test', 'summary'] as const;

const help =
  (): string => `${PRODUCT} ${VERSION}: serves the BMad Method to an MCP host over stdin and stdout.

Usage: ${SERVER_PROGRAM} [flags]        (started by a host; for people there is the program "bmad")

  --summary  Print what was found to stderr, then serve
  --test     Check that the server can start, print one line, and end
  --version  Print the version
  --help     Print this text

Settings, in the order flag, environment, project file, user file, default:
${settingsHelp()}
`;

async function main(): Promise<void> {
  const { settings, switches } = parseFlags(programArguments(), SWITCHES);
  if (switches.has('help')) return print(help());
  if (switches.has('version')) return print(`${VERSION}\n`);
  const context = await createContext(outside(settings));
  if (switches.has('test')) return print(`${await readyLine(context)}\n`);
  if (process.stdin.isTTY) process.stderr.write(connectionHelp());
  const summary = switches.has('summary') || process.stdin.isTTY ? readyLine(context) : undefined;
  const printed = summary?.then((line) => process.stderr.write(`${line}\n`));
  await serve(context);
  await printed;
}

/** Serves until the client leaves, a signal comes, or the host is gone without closing the pipe. */
async function serve(context: Context): Promise<void> {
  const connection = serveStreams(context, process.stdin, process.stdout);
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
}

const PARENT_CHECK_MS = 1_000;
const GRACE_MS = 1_000;

/** Whatever still runs must not keep the process alive: hosts count on it being gone. */
function leaveSoon(): void {
  setTimeout(() => process.exit(0), GRACE_MS).unref();
}

async function readyLine(context: Context): Promise<string> {
  const { catalogue, project } = await context.workspace();
  const tools = await toolList(context, { signal: new AbortController().signal, progress: () => undefined });
  const content = [
    plural(catalogue.count('agent'), 'agent'),
    plural(catalogue.count('workflow'), 'workflow'),
    plural(catalogue.count('skill'), 'plain skill'),
  ].join(', ');
  const origins = catalogue.sources.map(({ origin }) => origin.displayName).join(', ');
  return `${PRODUCT} v${VERSION} — ${plural(tools.length, 'tool')} registered — ${content} from ${origins} — project ${project.root ?? 'none'} — Ready`;
}

function connectionHelp(): string {
  const entry = { mcpServers: { [SERVER_KEY]: { command: process.execPath, args: [serverFile()] } } };
  return `${PRODUCT} ${VERSION} speaks MCP over stdin and stdout and is waiting for a host. Press Ctrl+C to leave.

Claude Code:  claude mcp add --scope user ${SERVER_KEY} -- "${process.execPath}" "${serverFile()}"
Codex:        codex mcp add ${SERVER_KEY} -- "${process.execPath}" "${serverFile()}"
Other hosts, in their MCP configuration:
${JSON.stringify(entry, null, 2)}

`;
}

function print(text: string): void {
  process.stdout.write(text);
}

main().catch((thrown: unknown) => {
  const error = BmadError.from(thrown, (id, original) =>
    process.stderr.write(
      `incident ${id}: ${String(original instanceof Error ? original.stack : original)}\n`,
    ),
  );
  process.stderr.write(`${SERVER_PROGRAM}: ${error.text}\n`);
  process.exitCode = ERROR_CODES[error.code].exit;
});
