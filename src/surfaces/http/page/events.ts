import { BmadError } from '../../../base/errors.ts';
import { refuseAsProblem } from '../../../base/http/http-refusals.ts';
import { whenOver, type Exchange, type HttpRoute } from '../../../base/http/http-route.ts';
import type { Context } from '../../../operations/context.ts';
import { problemOf } from '../api/problems.ts';
import { followProject, type Followed, type Marks } from './followed-project.ts';
import type { Passes } from './passes.ts';

/** Comments only: a proxy keeps the stream open, and nobody takes them for a change. */
const COMMENT_MS = 20_000;
const RETRY_MS = 2_000;
const LONGEST_PROJECT = 1_000;

/** The topics of one mark each, in a fixed order: a page that comes again says by it what it has seen. */
const idOf = (marks: Marks): string => marks.map(([, mark]) => mark).join('.');

export interface EventsOptions {
  /** Where a person's session is open no longer, the stream ends. */
  passes?: Passes;
  /** How often a comment is sent. */
  commentMs?: number;
}

/**
 * Tells what has changed, as server-sent events. The id of an event is what the project looked like then: after an
 * interruption any process or replica can tell the rest by it, and nothing has to be remembered.
 */
export function createEventsRoute(
  context: Context,
  { passes, commentMs = COMMENT_MS }: EventsOptions = {},
): HttpRoute {
  const followed = new Map<string, Followed>();
  const open = new Set<() => void>();
  let ending = false;

  async function follow(project: string | undefined): Promise<Followed> {
    const key = project ?? '';
    const known = followed.get(key) ?? followProject(context, project, () => followed.delete(key));
    followed.set(key, known);
    await known.ready();
    return known;
  }

  async function opened({ request, caller, over, stays }: Exchange): Promise<Response> {
    const named = new URL(request.url).searchParams.get('project') ?? undefined;
    if (ending || (named !== undefined && named.length > LONGEST_PROJECT))
      return refuseAsProblem(
        ending ? 503 : 400,
        ending ? 'The server is shutting down.' : 'project: too long.',
      );
    let changes: Followed;
    try {
      changes = await follow(named);
    } catch (error) {
      return problemOf(errorOf(error, context));
    }
    if (stays?.() === false)
      return refuseAsProblem(503, 'Too many streams are open. Close some.', { 'retry-after': '5' });
    const isPerson = caller.known === 'person' ? (caller.subject ?? '') : undefined;
    const body = streamOf(changes, request.headers.get('last-event-id'), over, async () =>
      isPerson === undefined || passes === undefined ? true : passes.isOpen(isPerson),
    );
    return new Response(body, {
      headers: {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      },
    });
  }

  function streamOf(
    changes: Followed,
    last: string | null,
    over: AbortSignal,
    isStillAllowed: () => Promise<boolean>,
  ): ReadableStream<Uint8Array> {
    const words = new TextEncoder();
    let seen = seenBy(last, changes.marks());
    let end = (): void => undefined;
    return new ReadableStream<Uint8Array>({
      start(stream) {
        const say = (text: string): void => stream.enqueue(words.encode(text));
        const tell = (): void => {
          for (const [topic, mark] of changes.marks()) {
            if (seen.some(([known, old]) => known === topic && old === mark)) continue;
            seen = seen.map(([known, old]) => [known, known === topic ? mark : old] as const);
            const data = JSON.stringify({ topic, project: changes.project() });
            say(`event: change\nid: ${idOf(seen)}\ndata: ${data}\n\n`);
          }
        };
        const leave = changes.listen(tell);
        const comments = setInterval(() => {
          void isStillAllowed().then((may) => (may ? say(': \n\n') : end()), end);
        }, commentMs).unref();
        end = () => {
          end = () => undefined;
          clearInterval(comments);
          leave();
          open.delete(endThis);
          try {
            stream.close();
          } catch {
            // The client has ended it already.
          }
        };
        const endThis = (): void => end();
        open.add(endThis);
        whenOver(over, endThis);
        // An id without data is no event, and is what a client that comes again sends.
        say(`retry: ${RETRY_MS}\nid: ${idOf(seen)}\n\n`);
        tell();
      },
      cancel: () => end(),
    });
  }

  return {
    path: '/api/events',
    methods: ['GET'],
    part: 'page',
    refuse: refuseAsProblem,
    handle: opened,
    running: () => 0,
    async close() {
      ending = true;
      for (const end of open) end();
    },
  };
}

/** What a client had seen by the id it sends; what is not such an id says nothing. */
function seenBy(last: string | null, now: Marks): Marks {
  const marks = (last ?? '').split('.');
  if (marks.length !== now.length || marks.some((mark) => !/^[0-9a-f]{8}$/.test(mark))) return now;
  return now.map(([topic], at) => [topic, marks[at] ?? ''] as const);
}

function errorOf(thrown: unknown, { log }: Context): BmadError {
  return BmadError.from(thrown, (id, original) =>
    log.error('incident', { id, name: 'events', error: String(original) }),
  );
}
