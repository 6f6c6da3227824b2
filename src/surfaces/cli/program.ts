import { Command, CommanderError } from 'commander';
import { BmadError, ERROR_CODES, quoted } from '../../base/errors.ts';
import { CLI_PROGRAM, PRODUCT, VERSION } from '../../base/product.ts';
import { t } from '../../base/text/message.ts';
import { nearest } from '../../base/text/suggest.ts';
import { isYes } from '../../base/text/text.ts';
import { present } from '../../base/values.ts';
import { commandLine } from '../../operations/offers.ts';
import type { Call, Context } from '../../operations/context.ts';
import { execute } from '../../operations/execute.ts';
import { LATE, TYPED } from '../../operations/registry.ts';
import type { Item } from '../../operations/catalogue/list-items.ts';
import type { AnyOperation } from '../../operations/operation.ts';
import type { Asking } from './ask/index.ts';
import {
  addOptions,
  asksForMissing,
  commandOf,
  copyOption,
  givenOptions,
  type Printing,
  type RunOperation,
} from './command.ts';
import { COMMANDS } from './commands.prepared.ts';
import {
  aboutItem,
  aboutWord,
  ALL,
  complaint,
  COMPLETION,
  firstHelp,
  groupHelp,
  GROUPS,
  HELP,
  helpIn,
  otherWord,
  overview,
  REMEMBER,
  SHORTCUT_WORDS,
  spokenCommand,
  topicIn,
} from './overview.ts';
import { copied, printAnswer, printHelp, report, type Terminal } from './terminal.ts';

const LOADERS: Readonly<Partial<Record<string, () => Promise<AnyOperation>>>> = { ...LATE, ...TYPED };

/** Most of a start would go into making the schemas of operations that nobody has typed. */
async function operationNamed(name: string): Promise<AnyOperation> {
  const load = LOADERS[name];
  if (load === undefined) throw new Error(t`There is no operation ${name}.`);
  return load();
}

/** Runs one command line; answers with the exit code. */
export async function runProgram(
  typed: readonly string[],
  openContext: () => Promise<Context>,
  terminal: Terminal,
): Promise<number> {
  const args = spokenCommand(typed);
  let exitCode = 0;
  async function run(operation: AnyOperation, input: Record<string, unknown>, how: Printing): Promise<void> {
    const call = callFrom(terminal);
    const context = await openContext();
    const asking = how.json ? undefined : askingOn(terminal, context, call, again);
    let wanted: Record<string, unknown> | undefined = input;
    try {
      if (asking !== undefined && needsPerson(operation))
        wanted = await (
          await loadAsking()
        ).asked(operation, input, how.missing ?? [], how.sure === true, asking);
    } catch (error) {
      if (!(error instanceof BmadError)) throw error;
      exitCode = await report(error, how.json, terminal);
      return;
    }
    if (wanted === undefined) return;
    const outcome = await printed(operation, wanted, how, context, call);
    if (outcome !== undefined && asking !== undefined && operation.name === 'inbox')
      await (await loadAsking()).afterwards(operation.name, outcome, asking);
  }

  async function again(name: string, input: Record<string, unknown>): Promise<void> {
    const context = await openContext();
    await printed(
      await operationNamed(name),
      input,
      { json: false, raw: false },
      context,
      callFrom(terminal),
    );
  }

  async function printed(
    operation: AnyOperation,
    input: Record<string, unknown>,
    { json: asJson, raw, copy = false, instead, otherwise }: Printing,
    context: Context,
    call: Call,
  ): Promise<Record<string, unknown> | undefined> {
    terminal.status?.show(operation.title);
    const outcome = await execute(operation, input, context, call);
    terminal.status?.clear();
    if (!outcome.ok) {
      const { error } = outcome;
      const told =
        error.code === 'not_found' ? (instead ?? withWay(error, otherwise)) : asTyped(error, operation);
      exitCode = await report(told, asJson, terminal);
      return undefined;
    }
    if (asJson) terminal.json(`${JSON.stringify(outcome.data, null, 2)}\n`);
    else if (copy && terminal.copy !== undefined) await copied(outcome.answer, terminal);
    else await printAnswer(operation.name, outcome.data, outcome.answer, raw, terminal);
    if (outcome.failed) exitCode = 1;
    return outcome.data;
  }

  const topic = topicIn(typed);
  if (topic !== undefined) {
    const known = aboutWord(topic, terminal.settingsHelp(false));
    const told = known === '' ? await contentCalled(topic) : known;
    if (told !== undefined) {
      await printHelp(`${told}\n`, 'out', terminal);
      return exitCode;
    }
    await run(await operationNamed('search'), { query: topic }, { json: false, raw: false });
    return exitCode;
  }

  /** What an agent or a workflow of this name is, and how to start it; nothing where none is called that. */
  async function contentCalled(name: string): Promise<string | undefined> {
    const context = await openContext();
    const input = { query: name, limit: 3, detail: 'full' };
    const outcome = await execute(await operationNamed('search'), input, context, callFrom(terminal));
    const items = outcome.ok ? (outcome.data['items'] as Item[]) : [];
    const wanted = name.toLowerCase();
    const found = items.find((item) =>
      [item.name, item.person, item.title, ...(item.aliases ?? [])].some(
        (each) => each?.toLowerCase() === wanted,
      ),
    );
    return found === undefined ? undefined : aboutItem(found);
  }

  // Help and complaints are complete before they are shown.
  const said = { out: '', err: '' };
  const json = args.includes('--json');
  const program = await createProgram(run, said, terminal, args, typed[0] ?? '');
  try {
    await program.parseAsync(args[0] === '--help' ? ['--help'] : [...args], { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof BmadError) return report(error, json, terminal);
    if (!(error instanceof CommanderError)) throw error;
    await printHelp(said.out, 'out', terminal);
    if (error.exitCode === 0) return 0;
    if (!json) {
      await printHelp(said.err, 'err', terminal);
      return ERROR_CODES.invalid_input.exit;
    }
    const [message = '', usage] = said.err
      .trim()
      .replace(/^error: /, '')
      .split('\n\n', 2);
    const hint = usage ?? t`--help lists commands and options.`;
    return await report(new BmadError('invalid_input', message || error.message, { hint }), true, terminal);
  }
}

/** An error with the command that was perhaps meant. */
function withWay(error: BmadError, otherwise: string | undefined): BmadError {
  if (otherwise === undefined) return error;
  return error.with({ hint: [otherwise, error.hint].filter(Boolean).join('\n') });
}

/** What is wrong with the input of an operation, by the name of its command: nobody has typed the other. */
function asTyped(error: BmadError, { name, command }: AnyOperation): BmadError {
  const { code, message, hint = '', suggestions, subject, reason } = error;
  const start = `${name}: `;
  if (code !== 'invalid_input' || command === undefined || !message.startsWith(start)) return error;
  const typed = `${CLI_PROGRAM} ${command}`;
  return new BmadError(code, `${typed}: ${message.slice(start.length)}`, {
    suggestions,
    ...present({ subject }),
    hint: reason === 'arguments' ? t`"${typed} --help" lists what it takes.` : hint,
  });
}

/** What the short form `bmad architect "…"` takes as well as `bmad execute`. */
const SHORT_OPTIONS = ['module', 'origin', 'run_id', 'section', 'cursor', 'detail'];

/** Only what was typed can be run: a command that is not among the words is not made, which takes most of the start. */
async function createProgram(
  run: RunOperation,
  said: { out: string; err: string },
  terminal: Terminal,
  args: readonly string[],
  firstTyped: string,
): Promise<Command> {
  const words = new Set(args);
  const program = new Command(CLI_PROGRAM)
    .description(t`${PRODUCT} ${VERSION}: BMad Method agents and workflows on the command line`)
    .version(VERSION, '--version', t`print the version`)
    .helpOption('--help', t`print help`)
    .helpCommand(false)
    .exitOverride()
    // An option after a command belongs to that command; both take --json.
    .enablePositionalOptions()
    .configureOutput({
      writeOut: (text) => void (said.out += text),
      writeErr: (text) => void (said.err += text),
      outputError: (text, write) => write(complaint(text)),
    })
    .configureHelp({ showGlobalOptions: false, ...helpIn() })
    .argument('[command]')
    .argument('[message...]')
    .option('--json', t`print the data as JSON`);
  const bmad = await operationNamed('bmad');
  addOptions(program, bmad, SHORT_OPTIONS);
  program.addOption(copyOption());
  const names = new Set<string>();
  for (const { operation, command: line } of COMMANDS) {
    const [first = '', inner] = line.split(' ');
    names.add(first);
    if (!words.has(first)) continue;
    const made = await operationNamed(operation);
    const how = { askable: terminal.keyboard !== undefined };
    // By the one word that was typed for it, if one was.
    const asked = spokenCommand([firstTyped]).join(' ') === line ? firstTyped : line;
    const examples = made.examples?.map((example) => example.replace(line, asked));
    const command = explained(inheritSettings(commandOf(made, run, how), program), asked, examples);
    if (inner === undefined) program.addCommand(command);
    else groupNamed(program, first).addCommand(command);
  }
  if (words.has(REMEMBER.word)) program.addCommand(await rememberCommand(run, program));
  if (words.has(COMPLETION)) program.addCommand(inheritSettings(await completionCommand(terminal), program));
  program.helpInformation = () => (args.includes(ALL) ? overview(terminal.settingsHelp(true)) : firstHelp());
  program.action(async (command: string | undefined, message: string[], flags: Record<string, unknown>) => {
    if (command === undefined) program.help({ error: true });
    const instead = otherWord(command ?? '');
    const near = nearest(command ?? '', [...names, ...SHORTCUT_WORDS], 1)[0];
    const meant = near === undefined ? undefined : commandMeant(near, message);
    const otherwise = meant === undefined ? undefined : t`To run the command ${quoted(meant)}: bmad ${meant}`;
    const input = {
      command,
      ...(message.length === 0 ? {} : { message: message.join(' ') }),
      ...givenOptions(flags, SHORT_OPTIONS),
    };
    await run(bmad, input, {
      json: flags['json'] === true,
      raw: false,
      copy: flags['copy'] === true,
      instead,
      otherwise,
    });
  });
  return program;
}

/** What a word that is nearly a command was meant for: what follows is a message, unless it is a command of that group. */
function commandMeant(near: string, [inner, ...others]: readonly string[]): string | undefined {
  if (inner === undefined) return near;
  const whole = `${near} ${inner}`;
  return others.length === 0 && COMMANDS.some(({ command }) => command === whole) ? whole : undefined;
}

/** A command that is about the command line itself, and no operation. */
async function completionCommand({ out }: Terminal): Promise<Command> {
  const { completionFor } = await import('./completion.ts');
  return new Command(COMPLETION)
    .description(t`Print the script with which a shell completes commands, options and names`)
    .argument('[shell]', t`bash, zsh, fish or powershell`)
    .action((shell: string | undefined) => out(completionFor(shell)));
}

/** How it is used, for whoever has used it in another way. */
function explained(command: Command, line: string, examples: readonly string[] = []): Command {
  const typed = `${CLI_PROGRAM} ${line}`;
  const usage = `${typed} ${command.usage()}`;
  const [example] = examples;
  const lines = [
    t`\nUsage: ${usage}`,
    ...(example === undefined ? [] : [t`Example: ${CLI_PROGRAM} ${example}`]),
    t`${typed} --help explains it.`,
  ];
  return command.showHelpAfterError(lines.join('\n'));
}

/** What the words for a memory are guessed from in `memory remember` has a usual value here. */
async function rememberCommand(run: RunOperation, program: Command): Promise<Command> {
  const { word, positional, sentence, examples, presets, operation } = REMEMBER;
  const whole = await operationNamed(operation);
  const command = commandOf(
    { ...whole, command: word, positional, sentence, examples },
    (_short, args, how) => run(whole, { ...presets, ...args }, how),
  );
  return explained(inheritSettings(command, program), word, examples);
}

function inheritSettings(command: Command, program: Command): Command {
  return command
    .copyInheritedSettings(program)
    .helpOption('--help', t`print help`)
    .helpCommand(false);
}

function groupNamed(program: Command, name: string): Command {
  const known = program.commands.find((command) => command.name() === name);
  if (known !== undefined) return known;
  const group = inheritSettings(
    new Command(name).description(GROUPS[name] ?? t`Commands about the ${name}`),
    program,
  );
  group.helpInformation = () => groupHelp(name);
  group.showHelpAfterError(t`\n${CLI_PROGRAM} ${HELP} ${name} lists its commands.`);
  program.addCommand(group);
  return group;
}

/** What asks is loaded where somebody can answer. */
const loadAsking = () => import('./ask/index.ts');

/** Whether a command may have a question for the person who typed it. */
const needsPerson = (operation: AnyOperation): boolean =>
  asksForMissing(operation) || operation.removes !== undefined;

/** A call that comes from this terminal. */
function callFrom(terminal: Terminal): Call {
  return {
    signal: terminal.signal,
    progress: (message) => terminal.status?.show(message),
    say: commandLine,
    typed: true,
    ...confirming(terminal),
  };
}

/** Asks the person at the terminal; only a yes is one. */
function confirming({
  err,
  remarks,
  readLine,
  keyboard,
  status,
}: Terminal): Pick<Call, 'ask' | 'choose' | 'confirm'> {
  if (readLine === undefined) return {};
  return {
    ask: readLine,
    ...(keyboard === undefined
      ? {}
      : {
          async choose(question, offers) {
            status?.clear();
            return keyboard.ask((await import('./ask/picker.ts')).severalPicker(question, offers));
          },
        }),
    async confirm({ question, details }) {
      status?.clear();
      // Every line as it is: what a person allows may hide nothing behind marks.
      if (details !== '' && remarks !== undefined)
        remarks.show((await import('./screen/markdown.ts')).exactLines(details, remarks.look.width));
      else if (details !== '') err(`${details}\n`);
      const typed = await readLine(t`${question} [y/N] `);
      return isYes(typed) ? { yes: true } : { yes: false, why: t`you said no` };
    },
  };
}

/** What questions need; nothing where nobody can be asked. */
function askingOn(
  terminal: Terminal,
  context: Context,
  call: Call,
  perform: Asking['perform'],
): Asking | undefined {
  const { keyboard } = terminal;
  if (keyboard === undefined || call.confirm === undefined) return undefined;
  return {
    keyboard,
    terminal,
    perform,
    confirm: call.confirm,
    async ask(name, input) {
      const outcome = await execute(await operationNamed(name), input, context, call);
      terminal.status?.clear();
      return outcome.ok ? outcome.data : undefined;
    },
  };
}
