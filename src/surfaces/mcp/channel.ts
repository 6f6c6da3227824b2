import type { Server } from '@modelcontextprotocol/server';
import type { Context } from '../../operations/context.ts';
import { ask, stepWriter } from './ask.ts';
import { changed, messageOf, newTo, waitFor, type Marks, type NewsKind } from './news.ts';
import { unattended } from './watch.ts';

/** The host whose sessions take messages that they have not asked for. */
const TAKES_NEWS = /^claude-code/i;
const METHOD = 'notifications/claude/channel';
/** A session need not be told what its own call has just done. */
const OWN_MS = 5_000;

export interface Channel {
  /** The session has called a tool. */
  called(): void;
  close(): void;
}

/** Tells a running session what others have done in the project meanwhile. */
export async function openChannel(context: Context, connected: () => Server | undefined): Promise<Channel> {
  const sent: number[] = [];
  const waiting = new Set<NewsKind>();
  let calledAt = -Infinity;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  let before = await look();

  // Nobody waits for it, and nobody counts it.
  async function look(): Promise<Marks | undefined> {
    const outcome = await ask('project_news', {}, { ...context, observe: undefined }, unattended());
    return outcome.ok ? (outcome.data as Marks) : undefined;
  }

  async function compare(): Promise<boolean> {
    const now = await look();
    if (closed || now === undefined) return false;
    const kinds = before === undefined ? [] : changed(before, now);
    before = now;
    for (const kind of newTo(kinds, performance.now() - calledAt < OWN_MS)) waiting.add(kind);
    if (waiting.size > 0) soon();
    return kinds.length > 0;
  }

  function soon(): void {
    timer ??= setTimeout(
      () => {
        timer = undefined;
        void tell().catch((error: unknown) => context.log.info('channel', { error: String(error) }));
      },
      waitFor(sent, performance.now()),
    ).unref();
  }

  async function tell(): Promise<void> {
    const server = connected();
    const name = server?.getClientVersion()?.name ?? '';
    if (server === undefined || closed || !TAKES_NEWS.test(name)) return;
    const params = messageOf(waiting, await stepWriter(context));
    waiting.clear();
    sent.push(performance.now());
    // The protocol of the SDK does not know it.
    await server.notification({ method: METHOD, params } as never);
  }

  /** One look after the other; what moves meanwhile is part of the next. */
  let last: Promise<boolean> = Promise.resolve(false);
  const compareNext = (): Promise<boolean> => (last = last.then(compare, compare));
  const leave = [context.onMoved(compareNext), context.onChange(() => void compareNext())];
  return {
    called: () => (calledAt = performance.now()),
    close() {
      closed = true;
      clearTimeout(timer);
      for (const each of leave) each();
    },
  };
}
