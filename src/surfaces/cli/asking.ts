import { t } from '../../base/text/message.ts';
import { isYes } from '../../base/text/yes.ts';
import { commandLine } from '../../operations/command-line.ts';
import type { Call, Context } from '../../operations/context.ts';
import { execute } from '../../operations/execute.ts';
import type { AnyOperation } from '../../operations/operation.ts';
import { asksForMissing } from './command.ts';
import type { Asking } from './ask/index.ts';
import type { Terminal } from './terminal.ts';

/** What asks is loaded where somebody can answer. */
export const loadAsking = () => import('./ask/index.ts');

/** Whether a command may have a question for the person who typed it. */
export const needsPerson = (operation: AnyOperation): boolean =>
  asksForMissing(operation) || operation.removes !== undefined;

/** A call that comes from this terminal. */
export function callFrom(terminal: Terminal): Call {
  return {
    signal: terminal.signal,
    progress: (message) => terminal.status?.show(message),
    say: commandLine,
    typed: true,
    ...confirming(terminal),
  };
}

/** Asks the person at the terminal; only a yes is one. */
function confirming({ err, readLine, status }: Terminal): Pick<Call, 'ask' | 'confirm'> {
  if (readLine === undefined) return {};
  return {
    ask: readLine,
    async confirm({ question, details }) {
      status?.clear();
      if (details !== '') err(`${details}\n`);
      const typed = await readLine(`${question} [y/N] `);
      return isYes(typed) ? { yes: true } : { yes: false, why: t`you said no` };
    },
  };
}

/** What questions need; nothing where nobody can be asked. */
export function askingOn(
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
      const outcome = await execute(await context.operation(name), input, context, call);
      terminal.status?.clear();
      return outcome.ok ? outcome.data : undefined;
    },
  };
}
