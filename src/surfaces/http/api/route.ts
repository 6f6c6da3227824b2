import { once } from '../../../base/async.ts';
import { refuseAsProblem } from '../../../base/http/http-refusals.ts';
import { callerKey, type Exchange, type HttpRoute } from '../../../base/http/http-route.ts';
import type { Call, Context } from '../../../operations/context.ts';
import type { Answers } from './answers.ts';
import { BASE, DOCUMENT } from './paths.ts';

/** Methods that the API answers itself, because which are right depends on the operation. */
const ANSWERED = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

export interface ApiOptions {
  /** Whether callers have to show a token. */
  secured: boolean;
}

/** Every operation that is available as a tool, each as a route, plus their list and their description. */
export function createApiRoutes(context: Context, { secured }: ApiOptions = { secured: false }): HttpRoute[] {
  const running = new Set<Promise<Response>>();
  const ending = new AbortController();
  const answers = once(async () => (await import('./answers.ts')).createAnswers(context, { secured }));

  const callOf = ({ over, caller }: Exchange): Call => ({
    signal: AbortSignal.any([over, ending.signal]),
    progress: () => undefined,
    overHttp: true,
    caller: callerKey(caller),
    ownToken: caller.own === true,
    mayWrite: caller.mayWrite,
  });

  const only = (path: string, give: (answers: Answers, call: Call) => Response): HttpRoute => ({
    path,
    methods: ['GET', 'HEAD'],
    refuse: refuseAsProblem,
    handle: async (exchange) => give(await answers(), callOf(exchange)),
  });

  return [
    only(BASE, ({ listed }, call) => listed(call)),
    only(`${BASE}/`, ({ listed }, call) => listed(call)),
    {
      path: `${BASE}/*`,
      methods: ANSWERED,
      methodsAt: async (path) => (await answers()).methodsAt(path),
      refuse: refuseAsProblem,
      async handle(exchange) {
        if (ending.signal.aborted)
          return refuseAsProblem(503, 'The server is shutting down.', { connection: 'close' });
        const answering = answers().then(({ called }) => called(exchange, callOf(exchange)));
        running.add(answering);
        return answering.finally(() => running.delete(answering));
      },
      async close(now) {
        const late = new Promise<void>((resolve) =>
          now.addEventListener('abort', () => resolve(), { once: true }),
        );
        if (!now.aborted) await Promise.race([Promise.allSettled(running), late]);
        ending.abort();
      },
    },
    only(DOCUMENT, ({ described }, call) => described(call)),
  ];
}
