import { createHash } from 'node:crypto';
import { BmadError, quoted } from '../../../base/errors.ts';
import { refuseAsProblem } from '../../../base/http-refusals.ts';
import type { Exchange, HttpRoute } from '../../../base/http-route.ts';
import { nearest } from '../../../base/suggest.ts';
import type { Call, Context } from '../../../operations/context.ts';
import { execute, type Outcome } from '../../../operations/execute.ts';
import type { AnyOperation } from '../../../operations/operation.ts';
import { reachable, reachableNamed } from '../../../operations/reachable.ts';
import { FORMS, wantedForm, type Form } from './accept.ts';
import { bodyInput, queryInput, takesQuery } from './input.ts';
import { openApiDocument } from './openapi.ts';
import { problemOf } from './problems.ts';
import { inRoutes } from './wording.ts';

const BASE = '/api';
export const DOCUMENT = '/openapi.json';
/** Methods that a route has to answer itself, because which are right depends on the operation. */
const ANSWERED = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const SUGGESTED = 5;

/** Every operation that a tool would give as a route of its own, the list of them, and their description. */
export function createApiRoutes(context: Context): HttpRoute[] {
  const running = new Set<Promise<Response>>();
  const ending = new AbortController();

  function callOf({ over, caller }: Pick<Exchange, 'over' | 'caller'>): Call {
    return {
      signal: AbortSignal.any([over, ending.signal]),
      progress: () => undefined,
      overHttp: true,
      mayWrite: caller.mayWrite,
    };
  }

  async function answer(exchange: Exchange): Promise<Response> {
    const { request, path } = exchange;
    const { method, headers } = request;
    const call = callOf(exchange);
    const found = reachableNamed(nameIn(path), context, call);
    if (found === undefined) return unknown(nameIn(path), context, call);
    const { operation, reachable: may, why } = found;
    if (!may)
      return problemOf(
        new BmadError('forbidden', `${operation.name} is not offered by this server: ${why}.`, {
          subject: operation.name,
          hint: `GET ${BASE} lists what is.`,
        }),
      );
    const methods = methodsOf(operation);
    if (!methods.includes(method))
      return problemOf(
        new BmadError('invalid_input', `${operation.name} is not called with ${method}.`, {
          hint: `Allowed: ${methods.join(', ')}.`,
        }),
        { status: 405, headers: { allow: methods.join(', ') } },
      );
    // An address in a page of another origin is fetched without a header Origin; browsers say here that it was one.
    if (headers.get('origin') === null && headers.get('sec-fetch-site') === 'cross-site')
      return problemOf(new BmadError('forbidden', 'Pages of other origins are not served.'));
    const form = wantedForm(headers.get('accept'));
    if (form === undefined)
      return problemOf(
        new BmadError('invalid_input', 'No form that the header Accept names can be given.', {
          hint: `Forms: ${FORMS.join(', ')}.`,
        }),
        { status: 406 },
      );
    const sent = method === 'GET' ? { input: queryInput(request.url) } : await bodyInput(request);
    if ('error' in sent) return problemOf(sent.error, { status: sent.status });
    const outcome = await execute(operation, sent.input, context, call);
    return method === 'GET' ? tagged(given(outcome, form), headers) : given(outcome, form);
  }

  const offered = (exchange: Exchange): AnyOperation[] =>
    reachable(context, callOf(exchange)).flatMap((each) => (each.reachable ? [each.operation] : []));

  const operation: HttpRoute = {
    path: `${BASE}/*`,
    methods: ANSWERED,
    refuse: refuseAsProblem,
    async handle(exchange) {
      const answering = answer(exchange);
      running.add(answering);
      return answering.finally(() => running.delete(answering));
    },
    async close(now) {
      const out = new Promise<void>((resolve) =>
        now.addEventListener('abort', () => resolve(), { once: true }),
      );
      if (!now.aborted) await Promise.race([Promise.allSettled(running), out]);
      ending.abort();
    },
  };
  const only = (path: string, answerTo: (operations: AnyOperation[]) => object): HttpRoute => ({
    path,
    methods: ['GET'],
    refuse: refuseAsProblem,
    handle: async (exchange) => Response.json(answerTo(offered(exchange))),
  });
  return [
    only(BASE, (operations) => ({ operations: operations.map(summaryOf) })),
    operation,
    only(DOCUMENT, openApiDocument),
  ];
}

export function methodsOf(operation: AnyOperation): string[] {
  return takesQuery(operation) ? ['GET', 'POST'] : ['POST'];
}

function summaryOf(operation: AnyOperation): object {
  const { name, title, description, effect } = operation;
  return { name, path: `${BASE}/${name}`, methods: methodsOf(operation), effect, title, description };
}

function nameIn(path: string): string {
  const raw = path.slice(BASE.length + 1);
  try {
    return decodeURIComponent(raw);
  } catch {
    return raw;
  }
}

function unknown(name: string, context: Context, call: Call): Response {
  const names = reachable(context, call).flatMap((each) => (each.reachable ? [each.operation.name] : []));
  return problemOf(
    new BmadError('not_found', `There is no operation ${quoted(name)} over HTTP.`, {
      subject: name.slice(0, 100),
      suggestions: nearest(name, names, SUGGESTED),
      hint: `GET ${BASE} lists the operations, GET ${DOCUMENT} describes them. What only a person may do is a command.`,
    }),
  );
}

function given(outcome: Outcome, form: Form): Response {
  if (!outcome.ok) return problemOf(outcome.error.map(inRoutes));
  const { data, failed, answer } = outcome;
  if (form === 'application/json') return Response.json({ data, failed });
  const { body, note, exact } = answer;
  // A file is given as it is; nothing is added to it.
  const text =
    exact === true
      ? body
      : [body, note]
          .filter(Boolean)
          .map((part) => inRoutes(part ?? ''))
          .join('\n\n');
  return new Response(text, { headers: { 'content-type': `${form}; charset=utf-8` } });
}

/** Whoever has the same answer already is not sent it again. */
async function tagged(response: Response, asked: Headers): Promise<Response> {
  if (!response.ok) return response;
  const body = Buffer.from(await response.arrayBuffer());
  const tag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  const headers = { etag: tag, 'cache-control': 'private, no-cache', vary: 'Accept' };
  const known = asked
    .get('if-none-match')
    ?.split(',')
    .map((each) => each.trim().replace(/^W\//, ''));
  if (known?.includes(tag) === true) return new Response(null, { status: 304, headers });
  return new Response(body, { headers: { ...Object.fromEntries(response.headers), ...headers } });
}
