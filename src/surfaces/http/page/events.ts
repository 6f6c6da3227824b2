import { BmadError } from '../../../base/errors.ts';
import { type Exchange, type HttpRoute, refuseAsProblem, whenOver } from '../../../base/http/http-route.ts';
import { isInProjects } from '../../../operations/bounds.ts';
import { broughtBy, tellOfRefusal } from '../../../operations/observed.ts';
import { changeFeed, projectMarks } from '../../../operations/client/change-feed.ts';
import type { Context } from '../../../operations/context.ts';
import { problemOf } from '../api/input.ts';
import type { Passes } from './passes.ts';

/** Comments only: a proxy keeps the stream open, and nobody takes them for a change. */
const COMMENT_MS = 20_000;
const RETRY_MS = 2_000;
const LONGEST_PROJECT = 1_000;

/** The topics of one mark each, in a fixed order: a page that comes again says by it what it has seen. */
const idOf = (marks: Marks): string => marks.map(([, mark]) => mark).join('.');

interface EventsOptions {
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
      const { bounds } = caller;
      const project = bounds === undefined ? undefined : (await context.workspace(named)).project;
      if (!(await isInProjects(project?.root, bounds))) {
        await tellOfRefusal(context, 'events', broughtBy(caller), { project: named });
        return refuseAsProblem(403, 'This token is not for this project.');
      }
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

/** How a project looked: a mark for each topic, always in the same order. */
type Marks = readonly (readonly [topic: string, mark: string])[];

/** Projects that are not watched are looked at so often, while somebody listens. */
const POLL_MS = 5_000;
/** For a while after the last listener has left, another may come: a page that is loaded again. */
const KEPT_MS = 10_000;

interface Followed {
  /** Settled when it is known how the project looks; throws if it cannot be followed. */
  ready(): Promise<void>;
  project(): string;
  marks(): Marks;
  /** Calls when something is different from before, and only then. */
  listen(tell: () => void): () => void;
}

/**
 * One project as all who listen to it see it: looked at once for all of them, when something has moved. The one that the
 * server runs for is watched; all others are looked at now and then.
 */
function followProject(context: Context, named: string | undefined, forget: () => void): Followed {
  const listeners = new Set<() => void>();
  let current: { project: string; marks: Marks } = { project: '', marks: [] };
  let timer: NodeJS.Timeout | undefined;
  let leaving: NodeJS.Timeout | undefined;

  async function look(): Promise<boolean> {
    const { project, marks: now } = await projectMarks(context, named);
    const isDifferent = JSON.stringify(now) !== JSON.stringify(current.marks);
    const isFirst = current.marks.length === 0;
    current = { project, marks: now };
    if (isDifferent && !isFirst) for (const tell of listeners) tell();
    return isDifferent && !isFirst;
  }

  const feed = changeFeed(context, look);

  /** Whether the system tells when something moves there. */
  async function isWatched(): Promise<boolean> {
    if (context.config.watch === 'off') return false;
    return named === undefined || (await context.describeProject()).root === current.project;
  }

  async function begin(): Promise<void> {
    await look();
    if (await isWatched()) {
      feed.listen(true);
    } else {
      timer = setInterval(() => void feed.soon({}), POLL_MS).unref();
    }
    if (listeners.size === 0) endLater();
  }

  const begun = begin();
  begun.catch(forget);

  function endLater(): void {
    clearTimeout(leaving);
    leaving = setTimeout(() => {
      if (listeners.size > 0) return;
      forget();
      feed.listen(false);
      clearInterval(timer);
    }, KEPT_MS).unref();
  }

  return {
    ready: () => begun,
    project: () => current.project,
    marks: () => current.marks,
    listen(tell) {
      listeners.add(tell);
      return () => {
        listeners.delete(tell);
        if (listeners.size === 0) endLater();
      };
    },
  };
}
