import { Command, CommanderError } from 'commander';
import { BmadError, ERROR_CODES } from '../../base/errors.ts';
import { CLI_PROGRAM, PRODUCT, VERSION } from '../../base/product.ts';
import { stepLines } from '../../base/step.ts';
import { nearest } from '../../base/text/suggest.ts';
import type { Call, Context } from '../../operations/context.ts';
import { commandLine } from '../../operations/command-line.ts';
import { execute } from '../../operations/execute.ts';
import { LATE } from '../../operations/late.ts';
import type { AnyOperation } from '../../operations/operation.ts';
import { TYPED } from '../../operations/typed.ts';
import { addOptions, commandOf, givenOptions, type Printing, type RunOperation } from './command.ts';
import { COMMANDS } from './commands.prepared.ts';
import { otherWord } from './other-words.ts';
import { COMPLETION, GROUPS, overview } from './overview.ts';

/** The printer of the program, and the settings flags every command takes. */
export interface Terminal {
  /** Text for people, on stdout and on stderr. */
  out(text: string): void;
  err(text: string): void;
  /** JSON for programs. */
  json(text: string): void;
  /** A file, which a pipe that asks for it gets to the byte; tells whether something in it was made visible. */
  file(text: string, raw: boolean): boolean;
  signal: AbortSignal;
  /** Reads one line that the person types; not there where nobody sits at the terminal. */
  readLine?: ((prompt: string) => Promise<string>) | undefined;
  /** Lines of help for the settings. */
  settingsHelp: string;
}

const LOADERS: Readonly<Partial<Record<string, () => Promise<AnyOperation>>>> = { ...LATE, ...TYPED };

/** Most of a start would go into making the schemas of operations that nobody has typed. */
async function operationNamed(name: string): Promise<AnyOperation> {
  const load = LOADERS[name];
  if (load === undefined) throw new Error(`There is no operation ${name}.`);
  return load();
}

const SHOWN = 'Hidden characters are shown as escapes; with --raw, a pipe or a file gets them as they are.';

/** Runs one command line; answers with the exit code. */
export async function runProgram(
  args: readonly string[],
  openContext: () => Promise<Context>,
  terminal: Terminal,
): Promise<number> {
  let exitCode = 0;
  async function run(
    operation: AnyOperation,
    input: Record<string, unknown>,
    { json: asJson, raw, instead }: Printing,
  ): Promise<void> {
    const call = {
      signal: terminal.signal,
      progress: (message: string) => terminal.err(`${message} …\n`),
      say: commandLine,
      typed: true as const,
      ...confirming(terminal),
    };
    const context = { ...(await openContext()), operation: operationNamed };
    const outcome = await execute(operation, input, context, call);
    if (!outcome.ok) {
      const error = outcome.error.code === 'not_found' ? (instead ?? outcome.error) : outcome.error;
      exitCode = report(error, asJson, terminal);
      return;
    }
    if (asJson) terminal.json(`${JSON.stringify(outcome.data, null, 2)}\n`);
    else {
      const { body, note, exact, json: isJson, steps = [] } = outcome.answer;
      let shown = false;
      if (isJson === true && !raw) terminal.json(body);
      else if (exact === true) shown = terminal.file(body, raw);
      else terminal.out(body.endsWith('\n') ? body : `${body}\n`);
      // A file may end in the middle of a line; what is said about it begins a new one.
      const gap = exact === true && body !== '' && !body.endsWith('\n') ? '\n' : '';
      const said = [
        ...(note === undefined ? [] : [note]),
        ...(shown ? [SHOWN] : []),
        ...stepLines(steps, commandLine),
      ];
      if (said.length > 0) terminal.err(`${gap}${said.join('\n')}\n`);
    }
    if (outcome.failed) exitCode = 1;
  }

  const complaints: string[] = [];
  const json = args.includes('--json');
  const program = await createProgram(
    run,
    json ? { ...terminal, err: (text) => complaints.push(text) } : terminal,
    new Set(args),
  );
  try {
    await program.parseAsync([...args], { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof BmadError) return report(error, json, terminal);
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return 0;
    if (!json) return ERROR_CODES.invalid_input.exit;
    const [message = '', usage] = complaints
      .join('')
      .trim()
      .replace(/^error: /, '')
      .split('\n\n', 2);
    const hint = usage ?? '--help lists commands and options.';
    return report(new BmadError('invalid_input', message || error.message, { hint }), true, terminal);
  }
}

/** Asks the person at the terminal; only a yes is one. */
function confirming({ err, readLine }: Terminal): Pick<Call, 'ask' | 'confirm'> {
  if (readLine === undefined) return {};
  return {
    ask: readLine,
    async confirm({ question, details, text }) {
      err(`${text === undefined ? '' : `${text.trimEnd()}\n\n`}${details}\n`);
      const typed = await readLine(`${question} [y/N] `);
      return /^\s*y(?:es)?\s*$/i.test(typed) ? { yes: true } : { yes: false, why: 'you said no' };
    },
  };
}

/** What the short form `bmad architect "…"` takes as well as `bmad execute`. */
const SHORT_OPTIONS = ['module', 'origin', 'run_id', 'section', 'cursor', 'detail'];

/** Only what was typed can be run: a command that is not among the words is not made, which takes most of the start. */
async function createProgram(
  run: RunOperation,
  terminal: Terminal,
  words: ReadonlySet<string>,
): Promise<Command> {
  const program = new Command(CLI_PROGRAM)
    .description(`${PRODUCT} ${VERSION}: BMad Method agents and workflows on the command line`)
    .version(VERSION, '--version', 'print the version')
    .helpOption('--help', 'print help')
    .helpCommand(false)
    .exitOverride()
    // An option after a command belongs to that command; both take --json.
    .enablePositionalOptions()
    .configureOutput({ writeOut: terminal.out, writeErr: (text) => terminal.err(text) })
    .configureHelp({ showGlobalOptions: false })
    .argument('[command]')
    .argument('[message...]')
    .option('--json', 'print the data as JSON');
  const bmad = await operationNamed('bmad');
  addOptions(program, bmad, SHORT_OPTIONS);
  const names = new Set<string>();
  for (const { operation, command: line } of COMMANDS) {
    const [first = '', inner] = line.split(' ');
    names.add(first);
    if (!words.has(first)) continue;
    const command = inheritSettings(commandOf(await operationNamed(operation), run), program);
    const typed = `${CLI_PROGRAM} ${line}`;
    command.showHelpAfterError(`\nUsage: ${typed} ${command.usage()}\n${typed} --help explains it.`);
    if (inner === undefined) program.addCommand(command);
    else groupNamed(program, first).addCommand(command);
  }
  if (words.has(COMPLETION)) program.addCommand(inheritSettings(await completionCommand(terminal), program));
  program.helpInformation = () => overview(terminal.settingsHelp);
  program.action(async (command: string | undefined, message: string[], flags: Record<string, unknown>) => {
    if (command === undefined) program.help({ error: true });
    const instead = otherWord(command ?? '');
    const near = instead === undefined ? nearest(command ?? '', [...names], 1)[0] : undefined;
    if (near !== undefined && message.length === 0)
      terminal.err(`(To run the command "${near}": bmad ${near})\n`);
    const input = {
      command,
      ...(message.length === 0 ? {} : { message: message.join(' ') }),
      ...givenOptions(flags, SHORT_OPTIONS),
    };
    await run(bmad, input, { json: flags['json'] === true, raw: false, instead });
  });
  return program;
}

/** A command that is about the command line itself, and no operation. */
async function completionCommand({ out }: Terminal): Promise<Command> {
  const { completionFor } = await import('./completion.ts');
  return new Command(COMPLETION)
    .description('Print the script with which a shell completes commands, options and names')
    .argument('[shell]', 'bash, zsh, fish or powershell')
    .action((shell: string | undefined) => out(completionFor(shell)));
}

function inheritSettings(command: Command, program: Command): Command {
  return command.copyInheritedSettings(program).helpOption('--help', 'print help').helpCommand(false);
}

function groupNamed(program: Command, name: string): Command {
  const known = program.commands.find((command) => command.name() === name);
  if (known !== undefined) return known;
  const group = inheritSettings(
    new Command(name).description(GROUPS[name] ?? `Commands about the ${name}`),
    program,
  );
  program.addCommand(group);
  return group;
}

function report(error: BmadError, json: boolean, terminal: Terminal): number {
  if (json) {
    const { code, message, subject, suggestions } = error;
    const hint = error.wayOut(commandLine);
    terminal.json(`${JSON.stringify({ error: { code, message, hint, subject, suggestions } }, null, 2)}\n`);
  } else {
    terminal.err(`${error.textWith(commandLine)}\n`);
  }
  return ERROR_CODES[error.code].exit;
}
