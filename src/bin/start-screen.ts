import { type Catalogue, plural, speaking, t } from '../base/text/message.ts';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { CLI_PROGRAM, PRODUCT, SERVER_KEY, SERVER_PROGRAM, VERSION } from '../base/product.ts';
import { noContent } from '../operations/answer-text.ts';
import type { Context } from '../operations/context.ts';
import { helpLines } from '../surfaces/cli/screens/parts.ts';
import { canvases, printer } from './printer.ts';
import { commandIsFound, programFolder, typedPath } from './program-place.ts';

/** What a person at the terminal of a server types instead of a message of the protocol. */
const HELP_KEYS = new Set(['?', 'h']);

interface KeyStream extends NodeJS.ReadableStream {
  setRawMode?(raw: boolean): unknown;
}

/** Help of a server, as wide as the terminal that it is read in. */
export function showHelp(text: string, stream: 'answers' | 'remarks' = 'answers'): void {
  const canvas = canvases(process, process.env, undefined)[stream];
  if (canvas === undefined) printer[stream === 'answers' ? 'out' : 'err'](text);
  else canvas.show(helpLines(text, canvas.look.width));
}

/** What is served, in one line. */
export async function foundLine(context: Context, tools: number): Promise<string> {
  const workspace = await context.workspace();
  const { catalogue, project } = workspace;
  const nothing = noContent(workspace, context.config.discovery)?.replace(/\.$/, '');
  const content = [
    plural(catalogue.count('agent'), 'agent'),
    plural(catalogue.count('workflow'), 'workflow'),
    plural(catalogue.count('skill'), 'plain skill'),
  ].join(', ');
  const origins = catalogue.sources.map(({ origin }) => origin.displayName).join(', ');
  const found = nothing ?? t`${content} from ${origins}`;
  return t`${PRODUCT} v${VERSION} — ${plural(tools, 'tool')} registered — ${found} — project ${project.root ?? t`none`} — Ready`;
}

interface Started {
  /** What is served, in one line. */
  summary: string;
  /** Whether the command line is found by its name. */
  installed: boolean;
}

/** The end of a start in a terminal: what is served, and what can be done next. */
function startScreen({ summary, installed }: Started): string {
  const bmad = installed
    ? CLI_PROGRAM
    : typedPath(process.execPath, join(programFolder, `${CLI_PROGRAM}.cjs`));
  const row = (what: string, command: string, why: string): string =>
    `  ${what.padEnd(10)}${command}\n  ${' '.repeat(10)}${why}\n`;
  return t`${summary}

What to do next, in another terminal:

${row(t`Connect`, `${bmad} setup`, t`Finds the hosts on this machine and connects those you choose`)}${row(t`Try it`, `${bmad} start`, t`Offers the agents and workflows to choose from`)}${row(t`Page`, `${bmad} page`, t`Prints the address of the page for people`)}${
    installed
      ? ''
      : row(t`Command`, 'npm link', t`Once, in the folder of the server: then "${CLI_PROGRAM}" is enough`)
  }
A host starts this program itself, so it need not run here: Ctrl+C stops it, and ? says how to connect a host by hand.
`;
}

/** What "?" answers: how to connect by hand, and what the programs are. */
function startHelp(server: string): string {
  const entry = { mcpServers: { [SERVER_KEY]: { command: process.execPath, args: [server] } } };
  return t`To connect a host by hand:

Claude Code:  claude mcp add --scope user ${SERVER_KEY} -- "${process.execPath}" "${server}"
Codex:        codex mcp add ${SERVER_KEY} -- "${process.execPath}" "${server}"
Other hosts, in their MCP configuration:
${JSON.stringify(entry, null, 2)}

"${CLI_PROGRAM} help" explains the command line,
"${SERVER_PROGRAM} --help" the settings of the server.
"npm start -- --http" serves over HTTP instead, with the page for people.
`;
}

/** A person has started it: the screen says what they can do, and "?" says more. */
export function atTerminal(ready: () => Promise<string>, words: Catalogue | undefined, server: string) {
  const installed = commandIsFound(process.env, process.platform);
  const printed = speaking(words, ready).then((summary) =>
    showHelp(
      speaking(words, () => startScreen({ summary, installed })),
      'remarks',
    ),
  );
  const input = withHelp(
    process.stdin,
    // Commands in it are copied, so that only the terminal breaks their lines.
    () => printer.err(speaking(words, () => startHelp(server))),
    () => process.kill(process.pid, 'SIGINT'),
  );
  return { input, printed };
}

/**
 * The input of a server at a terminal, where every key comes by itself: "?" is answered, Ctrl+C and Ctrl+D end it, and a line
 * that begins as a message does goes to the protocol. Everything else is not for it.
 */
function withHelp(input: KeyStream, answer: () => void, stop: () => void): Transform {
  input.setRawMode?.(true);
  let typed = '';
  const helped = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      for (const key of chunk.toString('utf8')) {
        if (key === '\u0003' || key === '\u0004') stop();
        else if (typed === '' && HELP_KEYS.has(key)) answer();
        else if (key === '\r' || key === '\n') {
          if (typed !== '') helped.push(`${typed}\n`);
          typed = '';
        } else if (typed !== '' || key === '{') typed += key;
      }
      done();
    },
  });
  return input.pipe(helped);
}
