import { once } from '../../../base/async.ts';
import { type Exchange, type HttpRoute, refuseAsProblem } from '../../../base/http/http-route.ts';
import type { Call, Context } from '../../../operations/context.ts';
import { broughtBy, tellOfRefusal } from '../../../operations/observed.ts';
import { notAPerson } from '../page/person-gate.ts';
import type { Answers } from './answers.ts';
import { BASE, DOCUMENT } from './input.ts';

/** Methods that the API answers itself, because which are right depends on the operation. */
const ANSWERED = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

export interface ApiOptions {
  /** Whether callers have to show a token. */
  secured: boolean;
  /** Whether there is a page for people, who may do more than programs. */
  page?: boolean;
}

/** Every operation that is available as a tool, each as a route, plus their list and their description. */
export function createApiRoutes(
  context: Context,
  { secured, page = false }: ApiOptions = { secured: false },
): HttpRoute[] {
  const running = new Set<Promise<Response>>();
  const ending = new AbortController();
  const answers = once(async () => (await import('./answers.ts')).createAnswers(context, { secured }));

  const callOf = ({ over, caller, request }: Exchange): Call => ({
    signal: AbortSignal.any([over, ending.signal]),
    progress: () => undefined,
    ...broughtBy(caller),
    key: request.headers.get('idempotency-key') ?? undefined,
  });

  const only = (path: string, give: (answers: Answers, call: Call) => Response): HttpRoute => ({
    path,
    methods: ['GET', 'HEAD'],
    part: 'page',
    refuse: refuseAsProblem,
    handle: async (exchange) => give(await answers(), callOf(exchange)),
  });

  const answered = (give: (answers: Answers, exchange: Exchange) => Promise<Response>) => {
    return async (exchange: Exchange): Promise<Response> => {
      if (ending.signal.aborted)
        return refuseAsProblem(503, 'The server is shutting down.', { connection: 'close' });
      const answering = answers().then((all) => give(all, exchange));
      running.add(answering);
      return answering.finally(() => running.delete(answering));
    };
  };

  /** What a model's token does not open, however much it may write. */
  const forPeople = (
    path: string,
    methods: readonly string[],
    give: (answers: Answers, exchange: Exchange) => Promise<Response>,
  ): HttpRoute => ({
    path,
    methods,
    part: 'page',
    refuse: refuseAsProblem,
    async handle(exchange) {
      if (exchange.caller.person === true) return answered(give)(exchange);
      await tellOfRefusal(context, path.slice(BASE.length + 1), broughtBy(exchange.caller));
      return notAPerson();
    },
  });

  return [
    ...(page
      ? [
          forPeople(`${BASE}/page/inbox`, ['GET', 'HEAD'], ({ waiting }, exchange) =>
            waiting(exchange, callOf(exchange)),
          ),
          forPeople(`${BASE}/page/act`, ['POST'], ({ acted }, exchange) => acted(exchange, callOf(exchange))),
        ]
      : []),
    only(BASE, ({ listed }, call) => listed(call)),
    only(`${BASE}/`, ({ listed }, call) => listed(call)),
    {
      path: `${BASE}/*`,
      methods: ANSWERED,
      methodsAt: async (path) => (await answers()).methodsAt(path),
      part: 'page',
      refuse: refuseAsProblem,
      handle: answered(({ called }, exchange) => called(exchange, callOf(exchange))),
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
