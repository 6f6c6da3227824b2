import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import { localDay, localTime } from '../../base/text/local-time.ts';
import { headsOf, inOrder } from '../../lines/line.ts';
import type { Noun, View } from '../../lines/view.ts';
import type { Kit } from '../kit.ts';
import { asLine } from '../kit-text.ts';
import type { Handoff } from './handoffs.ts';

/** A hand-off that is a line, and not a row of the kit's log. */
export interface LinedHandoff extends Handoff {
  /** Whether it is also a request, which agents look for when they start. */
  inbox: boolean;
}

const saidSchema = z.looseObject({
  from: z.string(),
  to: z.string(),
  text: z.string(),
  date: z.string(),
  inbox: z.boolean().default(false),
});

/** What lines say about a hand-off: `hand` says what it is, `done` that nobody needs to do it any more. */
export const HANDOFFS: Noun<LinedHandoff> = {
  noun: 'handoff',
  fold(id, events) {
    const told = inOrder(events).find((event) => event.do === 'hand' && event.erased !== true);
    const said = saidSchema.safeParse(told?.data).data;
    if (said === undefined) return undefined;
    const { from, to, text, date, inbox } = said;
    return { id, from, to, text, date, inbox, done: events.some((event) => event.do === 'done'), line: 0 };
  },
  isOver: ({ done }) => done,
};

/**
 * Whether hand-offs and failures of a project are lines: where it has the kit's own folder, the kit's files are what its
 * tools and its people read, change by hand and merge.
 */
export const keepsLines = ({ memory, keptWith }: Pick<Kit, 'memory' | 'keptWith'>): boolean =>
  memory === undefined || keptWith !== undefined;

/** All there are, in no order; the same list for as long as nothing was said. */
export async function linedHandoffs(view: View): Promise<readonly LinedHandoff[]> {
  const handoffs = view.of(HANDOFFS);
  await view.look();
  return handoffs.all();
}

/** Hands over, unless just that is open since today. Nobody waits for anybody: two who say the same are both heard. */
export async function handOver(
  view: View,
  given: Pick<LinedHandoff, 'from' | 'to' | 'text' | 'inbox'>,
  now: Date,
): Promise<{ id: string; added: boolean }> {
  const handoffs = view.of(HANDOFFS);
  await view.look();
  const [date, text] = [localTime(now).slice(0, 16).replace('T', ' '), asLine(given.text)];
  const twin = handoffs
    .open()
    .find(
      (other) =>
        other.date.startsWith(localDay(now)) &&
        other.from === given.from &&
        other.to === given.to &&
        other.text === text,
    );
  if (twin !== undefined) return { id: twin.id, added: false };
  const id = `H-${randomBytes(6).toString('hex')}`;
  await view.log.append([{ of: `handoff/${id}`, after: [], do: 'hand', data: { ...given, text, date } }]);
  return { id, added: true };
}

/** Ticks one off; nothing where no line knows it. */
export async function finishHandoff(
  view: View,
  id: string,
): Promise<{ text: string; changed: boolean } | undefined> {
  const handoffs = view.of(HANDOFFS);
  await view.look();
  const found = handoffs.get(id);
  if (found === undefined) return undefined;
  const after = headsOf(handoffs.eventsOf(id));
  if (!found.done) await view.log.append([{ of: `handoff/${id}`, after, do: 'done', data: {} }]);
  return { text: found.text, changed: !found.done };
}
