import { createHash } from 'node:crypto';
import { BmadError, quoted } from '../../../base/errors.ts';
import type { Exchange } from '../../../base/http-route.ts';
import { nearest } from '../../../base/suggest.ts';
import type { Call, Context } from '../../../operations/context.ts';
import { execute, type Outcome } from '../../../operations/execute.ts';
import type { AnyOperation } from '../../../operations/operation.ts';
import { reachable, reachableNamed } from '../../../operations/reachable.ts';
import { FORMS, wantedForm, type Form } from './accept.ts';
import { bodyInput, queryInput, takesQuery } from './input.ts';
import { openApiDocument } from './openapi.ts';
import { BASE, DOCUMENT } from './paths.ts';
import { problemOf } from './problems.ts';
import { inRoutes } from './wording.ts';

const SUGGESTED = 5;

/** What the routes of the API answer: all of it is loaded with the first request for one of them. */
export interface Answers {
  /** Calls an operation. */
  called(exchange: Exchange, call: Call): Promise<Response>;
  /** What there is. */
  listed(call: Call): Response;
  /** The same with its schemas, as OpenAPI has it. */
  described(call: Call): Response;
}

export function createAnswers(context: Context): Answers {
  const offered = (call: Call): AnyOperation[] =>
    reachable(context, call).flatMap((each) => (each.reachable ? [each.operation] : []));

  async function called({ request, path }: Exchange, call: Call): Promise<Response> {
    const { method, headers } = request;
    const found = reachableNamed(nameIn(path), context, call);
    if (found === undefined) return unknown(nameIn(path), offered(call));
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

  return {
    called,
    listed: (call) => Response.json({ operations: offered(call).map(summaryOf) }),
    described: (call) => Response.json(openApiDocument(offered(call))),
  };
}

function methodsOf(operation: AnyOperation): string[] {
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

function unknown(name: string, offered: readonly AnyOperation[]): Response {
  const names = offered.map((operation) => operation.name);
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
