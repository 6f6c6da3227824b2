import { say, t } from '../../../base/text/message.ts';
import { BmadError } from '../../../base/errors.ts';
import { isYes } from '../../../base/text/yes.ts';
import type { ConfirmRequest, Confirmed } from '../../../operations/context.ts';
import type { AnyOperation, Ask } from '../../../operations/operation.ts';
import type { Keyboard, Terminal } from '../terminal.ts';
import { PICKS } from './offers.ts';
import { picker } from './picker.ts';
import { reviewed } from './review.ts';

/** What questions need: somebody to answer them, and the operations they are about. */
export interface Asking {
  keyboard: Keyboard;
  terminal: Terminal;

  ask: Ask;
  /** Runs an operation and prints its answer or its error. */
  perform(operation: string, input: Record<string, unknown>): Promise<void>;
  confirm(request: ConfirmRequest): Promise<Confirmed>;
}

/** What was typed and then chosen; nothing where all of it is done already. */
export async function asked(
  operation: AnyOperation,
  given: Record<string, unknown>,
  missing: readonly string[],
  sure: boolean,
  asking: Asking,
): Promise<Record<string, unknown> | undefined> {
  if (operation.reviews === true && (await reviewed(operation.name, given, asking))) return undefined;
  const input = await completed(operation, given, missing, asking);
  if (!sure) await confirmed(operation, input, asking);
  return input;
}

/** The name from a list, and all else that is missing as a line. */
async function completed(
  { picks = {} }: AnyOperation,
  given: Record<string, unknown>,
  missing: readonly string[],
  { keyboard, terminal, ask }: Asking,
): Promise<Record<string, unknown>> {
  const input = { ...given };
  for (const field of missing) {
    const picked = picks[field];
    if (picked === undefined) {
      const typed = (await terminal.readLine?.(t`${field.replaceAll('_', ' ')}: `))?.trim() ?? '';
      if (typed === '') throw new BmadError('cancelled', t`Nothing was changed.`);
      input[field] = typed;
      continue;
    }
    const pick = PICKS[picked];
    terminal.status?.show(t`reading the content`);
    const question = say(pick.ofKind?.[String(input['kind'])] ?? pick.question);
    const offers = await pick.offers(ask, input);
    if (offers.length === 0)
      throw new BmadError('not_found', t`There is nothing to choose from.`, {
        hint: t`${question} None is known here.`,
      });
    input[field] = await keyboard.ask(picker(question, offers));
  }
  return input;
}

async function confirmed(
  { removes }: AnyOperation,
  input: Readonly<Record<string, unknown>>,
  { ask, confirm }: Asking,
): Promise<void> {
  if (removes === undefined || removes.when?.(input) === false) return;
  const { question, about } = removes;
  const named = about === undefined ? '' : [input[about]].flat().join(', ');
  const details = (await removes.details?.(input, ask)) ?? named;
  const answer = await confirm({ question: say(question), details, yes: '' });
  if (!answer.yes) throw new BmadError('cancelled', t`Nothing was changed.`);
}

/** After the list of what waits, whoever wants to deals with it at once. */
export async function afterwards(
  operation: string,
  data: Record<string, unknown>,
  asking: Asking,
): Promise<void> {
  if (operation !== 'inbox' || (data['items'] as unknown[]).length === 0) return;
  const typed = (await asking.terminal.readLine?.(t`Go through them one by one? [y/N] `)) ?? '';
  if (isYes(typed)) await reviewed(operation, {}, asking);
}
