import type { Step } from '../../base/step.ts';

/** What is compared, by the names that the operation has for it. */
export type Marks = Readonly<Record<NewsKind, readonly string[]>>;
export type NewsKind = 'approved' | 'failed' | 'ready' | 'sources';

interface News {
  /** As a program tells it apart. */
  event: string;
  text: string;
  step: Step;
}

/** Every sentence that a session may be told. Nothing from a file, a task or a network is ever part of one. */
const NEWS: Readonly<Record<NewsKind, News>> = {
  approved: {
    event: 'task_approved',
    text: 'A person has approved a task of this project.',
    step: { operation: 'task_list', why: 'See which' },
  },
  failed: {
    event: 'contract_failed',
    text: 'The completion contract of this project has failed.',
    step: { operation: 'list_receipts', why: 'See the verdicts' },
  },
  ready: {
    event: 'story_ready',
    text: 'A story of this project is ready to be developed.',
    step: { operation: 'next', why: 'See which' },
  },
  sources: {
    event: 'sources_changed',
    text: 'The git sources of this project have changed.',
    step: { operation: 'refresh', why: 'See what is served now' },
  },
};

const KINDS = Object.keys(NEWS) as NewsKind[];

/** The kinds in which something is there that was not a moment ago. */
export function changed(before: Marks, now: Marks): NewsKind[] {
  return KINDS.filter((kind) => now[kind].some((mark) => !before[kind].includes(mark)));
}

/** A session that has just called a tool knows how its own contract ended; all else others have done. */
export function newTo(kinds: readonly NewsKind[], hasCalled: boolean): NewsKind[] {
  return kinds.filter((kind) => !(hasCalled && kind === 'failed'));
}

export interface ChannelMessage {
  content: string;
  meta: { events: string };
}

export function messageOf(
  kinds: ReadonlySet<NewsKind>,
  say: (step: Step) => string | undefined,
): ChannelMessage {
  const told = KINDS.filter((kind) => kinds.has(kind)).map((kind) => NEWS[kind]);
  const lines = told.map(({ text, step: { why }, step }) => {
    const call = say(step);
    return call === undefined ? text : `${text} ${why}: ${call}`;
  });
  return { content: lines.join('\n'), meta: { events: told.map(({ event }) => event).join(' ') } };
}

/** Each message takes a turn of the model: what comes in between waits and is told together. */
export const GAP_MS = 20_000;
const HOUR_MS = 3_600_000;
const MOST_AN_HOUR = 30;

/** How long the next message has to wait, by when those before it were sent; `sent` is in their order. */
export function waitFor(sent: readonly number[], now: number): number {
  const lately = sent.filter((at) => now - at < HOUR_MS);
  const last = lately.at(-1);
  const gap = last === undefined ? 0 : Math.max(0, last + GAP_MS - now);
  const oldest = lately.at(-MOST_AN_HOUR);
  return oldest === undefined ? gap : Math.max(gap, oldest + HOUR_MS - now);
}
