import { BmadError } from '../../../base/errors.ts';
import { isYes } from '../../../base/text/yes.ts';
import type { Words } from '../../../language/translator.ts';
import type { ConfirmRequest, Confirmed } from '../../../operations/context.ts';
import type { AnyOperation } from '../../../operations/operation.ts';
import type { Keyboard, Terminal } from '../terminal.ts';
import { PICKED, REVIEWING } from './askable.ts';
import { PICKS, type Ask } from './offers.ts';
import { picker } from './picker.ts';
import { REMOVALS } from './removals.ts';
import { reviewed } from './review.ts';

/** What questions need: somebody to answer them, and the operations they are about. */
export interface Asking {
  keyboard: Keyboard;
  terminal: Terminal;
  say: Words;
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
  if (REVIEWING.includes(operation.name) && (await reviewed(operation.name, given, asking))) return undefined;
  const input = await completed(operation, given, missing, asking);
  if (!sure) await confirmed(operation.name, input, asking);
  return input;
}

/** The name from a list, and all else that is missing as a line. */
async function completed(
  { name }: AnyOperation,
  given: Record<string, unknown>,
  missing: readonly string[],
  { keyboard, terminal, say, ask }: Asking,
): Promise<Record<string, unknown>> {
  const input = { ...given };
  for (const field of missing) {
    const pick = name in PICKED ? PICKS[name as keyof typeof PICKED] : undefined;
    if (pick === undefined || PICKED[name as keyof typeof PICKED] !== field) {
      const typed = (await terminal.readLine?.(`${field.replaceAll('_', ' ')}: `))?.trim() ?? '';
      if (typed === '') throw new BmadError('cancelled', 'Nothing was changed.');
      input[field] = typed;
      continue;
    }
    terminal.status?.show(say('reading the content'));
    const question = pick.ofKind?.[String(input['kind'])] ?? pick.question;
    const offers = await pick.offers(ask, input);
    if (offers.length === 0)
      throw new BmadError('not_found', 'There is nothing to choose from.', {
        hint: `${question} None is known here.`,
      });
    input[field] = await keyboard.ask(picker(question, offers, say));
  }
  return input;
}

async function confirmed(
  operation: string,
  input: Readonly<Record<string, unknown>>,
  { ask, confirm }: Asking,
): Promise<void> {
  const removal = REMOVALS[operation];
  if (removal === undefined || removal.when?.(input) === false) return;
  const details = (await removal.details?.(input, ask)) ?? '';
  const answer = await confirm({ question: removal.question, details, yes: '' });
  if (!answer.yes) throw new BmadError('cancelled', 'Nothing was changed.');
}

/** After the list of what waits, whoever wants to deals with it at once. */
export async function afterwards(
  operation: string,
  data: Record<string, unknown>,
  asking: Asking,
): Promise<void> {
  if (operation !== 'inbox' || (data['items'] as unknown[]).length === 0) return;
  const typed = (await asking.terminal.readLine?.('Go through them one by one? [y/N] ')) ?? '';
  if (isYes(typed)) await reviewed(operation, {}, asking);
}
