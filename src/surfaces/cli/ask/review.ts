import { t } from '../../../base/text/message.ts';
import { BmadError } from '../../../base/errors.ts';
import { isYes } from '../../../base/text/yes.ts';
import type { InboxAction, InboxItem } from '../../../operations/inbox/inbox-item.ts';
import { EMPTY, line, span, type Line } from '../screen/lines.ts';
import { wrapped } from '../screen/wrap.ts';
import { choice } from './choice.ts';
import type { Asking } from './index.ts';

/** Which things that wait are meant by a command without a name, and what it is called with where it names one. */
const REVIEWED: Readonly<
  Partial<Record<string, { kinds: readonly InboxItem['kind'][]; field: string; settles: string }>>
> = {
  task_approve: { kinds: ['task', 'result'], field: 'task_id', settles: 'digest' },
  sources_approve: { kinds: ['source'], field: 'source', settles: 'commit' },
  delivery_accept: { kinds: ['contract'], field: 'contract_id', settles: 'digest' },
};

type Way = { act: InboxAction } | 'skip' | 'quit';

/**
 * What waits for the person, one after the other, each with its exact text: whoever approves has read what is approved.
 * Answers whether anything was shown; otherwise the command itself says how things are.
 */
export async function reviewed(
  operation: string,
  given: Readonly<Record<string, unknown>>,
  asking: Asking,
): Promise<boolean> {
  const meant = REVIEWED[operation];
  // Whoever names the very text has read it elsewhere.
  if (meant !== undefined && given[meant.settles] !== undefined) return false;
  const data = await asking.ask('inbox', {});
  const waiting = ((data?.['items'] as InboxItem[] | undefined) ?? []).filter(
    (item) => meant === undefined || (meant.kinds.includes(item.kind) && isNamed(item, given[meant.field])),
  );
  const items = waiting.filter(({ actions }) => actions.length > 0);
  // Whoever has said who decides has said it of all of them.
  const who = given['by'] === undefined ? {} : { by: given['by'] };
  let changed = false;
  for (const [at, item] of items.entries()) {
    const way = await decided(item, t`${at + 1} of ${items.length}`, who, asking).catch((error: unknown) => {
      // Leaving changes nothing more, which is not the same as nothing.
      throw changed && error instanceof BmadError && error.code === 'cancelled'
        ? new BmadError('cancelled', t`The rest is unchanged.`)
        : error;
    });
    if (way === 'quit') break;
    changed ||= way === 'acted';
  }
  return items.length > 0;
}

const isNamed = ({ id }: InboxItem, name: unknown): boolean =>
  name === undefined || id.slice(id.indexOf(' ') + 1) === name;

async function decided(
  item: InboxItem,
  place: string,
  who: { by?: unknown },
  asking: Asking,
): Promise<'acted' | 'skip' | 'quit'> {
  const { terminal } = asking;
  const width = terminal.remarks?.look.width ?? 80;
  const role = item.role === undefined ? '' : t` for ${item.role}`;
  const since = item.since === undefined ? '' : t` since ${item.since.slice(0, 16).replace('T', ' ')}`;
  terminal.remarks?.show([
    EMPTY,
    ...wrapped(line(span(item.title, 'title'), span(`  ${place}${role}${since}`, 'muted')), width),
    ...item.evidence.flatMap(({ says }) => wrapped([span(says, 'muted')], width)),
    EMPTY,
  ]);
  const diff = item.actions.find((each) => each.operation === 'sources_diff');
  // What changes in a source is what is approved.
  if (diff === undefined) terminal.answers?.show(exactly(item.text));
  else await asking.perform(diff.operation, diff.args);
  terminal.remarks?.show([EMPTY]);
  for (;;) {
    const way = await asking.keyboard.ask<'open', Way>(
      choice<Way>([
        ...item.actions.filter((each) => each !== diff).map((act) => ({ label: act.label, value: { act } })),
        { label: t`Quit`, value: 'quit' },
        { label: t`Skip`, value: 'skip' },
      ]),
    );
    if (way === 'skip' || way === 'quit') return way;
    const args = await completed(way.act, asking);
    if (args === undefined) continue;
    await asking.perform(way.act.operation, { ...args, ...who });
    return 'acted';
  }
}

/** The text as it is stored: it is read before something is agreed to, so nothing in it is drawn otherwise. */
const exactly = (text: string): Line[] => text.split('\n').map((each) => line(each));

/** The arguments of what was chosen; nothing where the person has thought better of it. */
async function completed(
  { args, needs = [], danger, label }: InboxAction,
  { terminal }: Asking,
): Promise<Record<string, unknown> | undefined> {
  const { readLine } = terminal;
  const given: Record<string, unknown> = { ...args };
  if (readLine === undefined) return undefined;
  for (const need of needs) {
    const typed = (await readLine(need === 'reason' ? t`Why? ` : t`${need}: `)).trim();
    if (typed === '') return undefined;
    given[need] = typed;
  }
  if (danger !== true || needs.length > 0) return given;
  return isYes(await readLine(`${label} [y/N] `)) ? given : undefined;
}
