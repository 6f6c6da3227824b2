import { speaking, t } from '../base/text/message.ts';
import { createContext } from '../app/app.ts';
import { readSettings } from '../app/settings.ts';
import { once } from '../base/async.ts';
import { ERROR_CODES } from '../base/errors.ts';
import { CLI_PROGRAM } from '../base/product.ts';
import { extractSettings, settingsHelp } from '../config/flags.ts';
import type { Context } from '../operations/context.ts';
import { extractPresentation } from '../surfaces/cli/terminal.ts';
import { isOwnOption } from '../surfaces/cli/completion.ts';
import { runProgram } from '../surfaces/cli/program.ts';
import { fail, outside, wordsFor } from './outside.ts';
import { answersOn, canvases, errorsAreRead, printer, printerOn, whenOutputIsLost } from './printer.ts';
import type { How, PersonAtTerminal } from './person.ts';
import { programArguments } from './program-place.ts';

/** A terminal has no size limit for answers; hosts do. */
const PRESETS = { answerBytes: '400000' };

async function main(): Promise<number> {
  const { settings, rest: others } = extractSettings(programArguments(), isOwnOption);
  const { how, rest } = extractPresentation(others);
  const interrupted = new AbortController();
  const person = await personHere({ ...how, json: rest.includes('--json') }, interrupted.signal);
  const own = printerOn(person.streams);
  const around = {
    ...outside(settings, { presets: PRESETS, patient: true }),
    writeError: (text: string) => own.err(text),
    tell: (text: string) => person.status?.show(text),
  };
  const read = once(() => readSettings(around));
  // What a program reads stays English.
  const isForProgram = rest.includes('--json') && !rest.includes('--help');
  const words = isForProgram ? undefined : await wordsFor(settings, read);
  let opened: Promise<Context> | undefined;
  // The settings say which words these are; what was found wrong with them is then said in the same.
  const open = (): Promise<Context> =>
    (opened ??= createContext(around, words === undefined ? read() : readSettings(around)));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      interrupted.abort();
      void opened?.then((context) => context.close());
      // A second signal means the user does not want to wait for a clean exit.
      process.once(signal, () => process.exit(130));
    });
  }
  const terminal = {
    ...own,
    ...answersOn(person.streams),
    ...person.canvases,
    signal: interrupted.signal,
    readLine: person.readLine,
    keyboard: person.keyboard,
    status: person.status,
    copy: async (text: string) => (await import('./person.ts')).copyText(text, process.env, process.cwd()),
    settingsHelp: (common: boolean) => settingsHelp(PRESETS, { common }),
  };
  return speaking(words, () => runProgram(rest, open, terminal));
}

/** What a person needs is loaded where there may be one. */
async function personHere(how: How, signal: AbortSignal): Promise<PersonAtTerminal> {
  if (!errorsAreRead()) return { streams: process, canvases: canvases(process, process.env, how.colour) };
  const { personAt } = await import('./person.ts');
  return personAt(process, process.env, how, signal);
}

let outputLost = false;

async function run(): Promise<void> {
  whenOutputIsLost((code) => {
    outputLost = true;
    printer.err(t`${CLI_PROGRAM}: the output could not be written (${code})\n`);
    process.exitCode ||= ERROR_CODES.unavailable.exit;
  });
  try {
    process.exitCode = (await main()) || (outputLost ? ERROR_CODES.unavailable.exit : 0);
  } catch (thrown) {
    fail(thrown, CLI_PROGRAM);
  }
}

void run();
