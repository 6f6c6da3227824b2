import { createHash } from 'node:crypto';
import * as z from 'zod';
import { attempt, BmadError } from '../../../base/errors.ts';
import type { Caller, Exchange } from '../../../base/http/http-route.ts';
import type { Carrier, Ended, Tracing } from '../../../base/process/tracing.ts';
import { stepLines, type StepWriter } from '../../../base/step.ts';
import { nearest } from '../../../base/text/suggest.ts';
import type { Call, Context } from '../../../operations/context.ts';
import { type CallOutcome, execute, WRITING_HINT } from '../../../operations/execute.ts';
import { FOR_PEOPLE, ON_THE_PAGE, writtenArguments } from '../../../operations/offers.ts';
import { operations } from '../../../operations/index.ts';
import { OFFERED } from '../../../operations/offered.ts';
import { tellOfRefusal } from '../../../operations/observed.ts';
import type { AnyOperation } from '../../../operations/operation.ts';
import { WRITES_ONLY, reachable, reachableNamed, type Reach } from '../../../operations/reachable.ts';
import { BASE, bodyInput, DOCUMENT, problemOf, queryInput, takesQuery } from './input.ts';
import { openApiDocument } from './openapi.ts';

const SUGGESTED = 5;

/** What the routes of the API answer: all of it is loaded with the first request for one of them. */
export interface Answers {
  /** Calls an operation. */
  called(exchange: Exchange, call: Call): Promise<Response>;
  /** Does what only a person may. */
  acted(exchange: Exchange, call: Call): Promise<Response>;
  /** What waits for a person. */
  waiting(exchange: Exchange, call: Call): Promise<Response>;
  /** What is offered. */
  listed(call: Call): Response;
  /** The same with its schemas, as OpenAPI has it. */
  described(call: Call): Response;
  /** The methods of a path. */
  methodsAt(path: string): readonly string[];
}

export function createAnswers(context: Context, { secured }: { secured: boolean }): Answers {
  const offered = (call: Call): AnyOperation[] =>
    reachable(context, call).flatMap((each) => (each.reachable ? [each.operation] : []));

  async function called(exchange: Exchange, call: Call): Promise<Response> {
    const found = reachableNamed(nameIn(exchange.path), context, call);
    return traced(context.tracing, exchange, found?.operation.name, async () =>
      found === undefined ? unknown(nameIn(exchange.path), offered(call)) : answered(found, exchange, call),
    );
  }

  async function answered(
    { operation, reachable: may, why }: Reach,
    { request, caller }: Exchange,
    call: Call,
  ): Promise<Response> {
    const { headers } = request;
    const more = challengeOf(caller);
    if (!may) {
      const sent = request.method === 'POST' ? await bodyInput(request) : queryInput(request.url, operation);
      await tellOfRefusal(context, operation.name, call, 'error' in sent ? undefined : sent.input);
      return problemOf(
        new BmadError('forbidden', `${operation.name} is not offered by this server: ${why}.`, {
          subject: operation.name,
          hint: `GET ${BASE} lists the available operations.`,
        }),
        { headers: why === WRITES_ONLY ? more : {} },
      );
    }
    const allowed = allowedFor(operation);
    if (!allowed.includes(request.method))
      return problemOf(
        new BmadError('invalid_input', `${operation.name} does not accept ${request.method}.`, {
          hint: `Allowed: ${allowed.join(', ')}.`,
        }),
        { status: 405, headers: { allow: allowed.join(', ') } },
      );
    const byQuery = request.method !== 'POST';
    // An address in a page of another origin is fetched without a header Origin; browsers say here that it was one.
    if (headers.get('origin') === null && headers.get('sec-fetch-site') === 'cross-site')
      return problemOf(new BmadError('forbidden', 'Requests from other origins are not allowed.'));
    const form = wantedForm(headers.get('accept'));
    if (form === undefined)
      return problemOf(
        new BmadError('invalid_input', 'None of the formats in the Accept header is available.', {
          hint: `Available: ${FORMS.join(', ')}.`,
        }),
        { status: 406 },
      );
    const sent = byQuery ? queryInput(request.url, operation) : await bodyInput(request);
    if ('error' in sent) return problemOf(sent.error, { status: sent.status });
    const outcome = await execute(operation, sent.input, context, { ...call, say: asRequest });
    const response = responseOf(outcome, form, more);
    return byQuery ? tagged(response, headers) : response;
  }

  /** The same door as for everything else: who may, and with what, is checked there. */
  async function done(name: string, input: Record<string, unknown>, call: Call): Promise<Response> {
    const operation = namedForPeople(name);
    const outcome = await execute(operation, input, context, { ...call, say: asRequest });
    if (!outcome.ok || operation.undo === undefined) return responseOf(outcome, 'application/json', {});
    const { data, failed } = outcome;
    const undo = operation.undo(data);
    return Response.json({ data, failed, ...(undo === undefined ? {} : { undo }) });
  }

  return {
    called,
    async acted({ request }, call) {
      const sent = await bodyInput(request);
      if ('error' in sent) return problemOf(sent.error, { status: sent.status });
      const act = actOf(sent.input);
      return act instanceof BmadError ? problemOf(act) : done(act.operation, act.args, call);
    },
    async waiting({ request }, call) {
      const sent = queryInput(request.url, namedForPeople('inbox'));
      if ('error' in sent) return problemOf(sent.error, { status: sent.status });
      const response = await done('inbox', sent.input, call);
      if (!response.ok) return response;
      const { data } = (await response.json()) as { data: object };
      return tagged(Response.json(data), request.headers);
    },
    listed: (call) => Response.json({ operations: offered(call).map(summaryOf) }),
    described: (call) =>
      Response.json(
        openApiDocument(offered(call), {
          secured,
          runsPrograms: context.config.contractsOverHttp || call.ownToken === true,
        }),
      ),
    methodsAt(path) {
      const found = reachableNamed(nameIn(path), context, ANYBODY);
      return found === undefined ? ['GET', 'HEAD', 'POST'] : allowedFor(found.operation);
    },
  };
}

/** Which methods an operation has does not depend on the caller. */
const ANYBODY: Call = { signal: new AbortController().signal, progress: () => undefined, overHttp: true };

/** Read-only callers learn how to get more rights from their issuer. */
function challengeOf({ challenge }: Caller): Record<string, string> {
  return challenge === undefined ? {} : { 'www-authenticate': challenge };
}

/** The methods that are answered: whatever can be asked with GET can be with HEAD. */
function allowedFor(operation: AnyOperation): string[] {
  return methodsOf(operation).flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
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
  return attempt(
    () => decodeURIComponent(raw),
    () => raw,
  );
}

/** What was asked for is not repeated: people put tokens into addresses, and answers end up in logs. */
function unknown(name: string, offered: readonly AnyOperation[]): Response {
  const names = offered.map((operation) => operation.name);
  return problemOf(
    new BmadError('not_found', 'There is no such operation over HTTP.', {
      suggestions: nearest(name, names, SUGGESTED),
      hint: `GET ${BASE} lists the operations, GET ${DOCUMENT} describes them. Actions reserved for people are commands.`,
    }),
  );
}

function responseOf(outcome: CallOutcome, form: Form, challenged: Record<string, string>): Response {
  if (!outcome.ok) {
    const { error } = outcome;
    return problemOf(error.with({ hint: error.wayOut(asRequest), steps: [] }), {
      headers: error.hint === WRITING_HINT ? challenged : {},
    });
  }
  const { data, failed, answer, before } = outcome;
  const headers: Record<string, string> = before === true ? { 'idempotency-replayed': 'true' } : {};
  if (form === 'application/json') return Response.json({ data, failed }, { headers });
  const { body, note, exact, steps = [] } = answer;
  // A file is returned unchanged, without additions. What people have written is not ours to change either.
  const text =
    exact === true ? body : [body, note, stepLines(steps, asRequest).join('\n')].filter(Boolean).join('\n\n');
  return new Response(text, { headers: { ...headers, 'content-type': `${form}; charset=utf-8` } });
}

/** A caller that already has the answer is not sent it again. */
async function tagged(response: Response, asked: Headers): Promise<Response> {
  if (!response.ok) return response;
  const body = Buffer.from(await response.arrayBuffer());
  const tag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  const headers = { etag: tag, 'cache-control': 'private, no-cache', vary: 'Accept, Accept-Language' };
  const known = asked
    .get('if-none-match')
    ?.split(',')
    .map((each) => each.trim().replace(/^W\//, ''));
  if (known?.includes(tag) === true) return new Response(null, { status: 304, headers });
  return new Response(body, { headers: { ...Object.fromEntries(response.headers), ...headers } });
}

/** The forms an answer has: data for programs, the text that a person or a model reads. */
const FORMS = ['application/json', 'text/markdown', 'text/plain'] as const;
export type Form = (typeof FORMS)[number];

/** The form that is wanted most; of equal ones the first of ours. Nothing, if none of them will do. */
export function wantedForm(accept: string | null): Form | undefined {
  if (accept === null || accept.trim() === '') return FORMS[0];
  const wanted = accept.split(',').map((part) => {
    const [range = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase());
    const weight = parameters.find((piece) => piece.startsWith('q='))?.slice(2);
    return { range, weight: weight === undefined ? 1 : Number(weight) || 0 };
  });
  const best = FORMS.map((form) => ({ form, weight: weightOf(form, wanted) })).reduce((a, b) =>
    b.weight > a.weight ? b : a,
  );
  return best.weight > 0 ? best.form : undefined;
}

/** What says most about a form decides: `text/plain;q=0, *\/*` is everything but plain text. */
function weightOf(form: Form, wanted: readonly { range: string; weight: number }[]): number {
  const [kind] = form.split('/');
  for (const range of [form, `${kind}/*`, '*/*']) {
    const found = wanted.find((each) => each.range === range);
    if (found !== undefined) return found.weight;
  }
  return 0;
}

/** A step as a request. What is for a person alone has no route. */
export const asRequest: StepWriter = (step) => {
  const { toolset, behind, serves } = OFFERED[step.operation] ?? {};
  if (toolset === undefined && behind === undefined && serves !== 'clients') return undefined;
  return `POST ${BASE}/${step.operation} ${JSON.stringify(writtenArguments(step))}`;
};

const CARRIED = ['traceparent', 'tracestate', 'baggage'];

/** A call as one span, by OpenTelemetry's HTTP conventions. `operation` is undefined for an unknown name. */
async function traced(
  tracing: Tracing | undefined,
  { request }: Exchange,
  operation: string | undefined,
  work: () => Promise<Response>,
): Promise<Response> {
  if (tracing === undefined) return work();
  const route = `${BASE}/${operation ?? '{operation}'}`;
  return tracing.span(
    `${request.method} ${route}`,
    { 'http.request.method': request.method, 'http.route': route, 'network.transport': 'tcp' },
    carrierOf(request.headers),
    work,
    endedBy,
  );
}

function carrierOf(headers: Headers): Carrier {
  return Object.fromEntries(
    CARRIED.flatMap((name) => {
      const value = headers.get(name);
      return value === null ? [] : [[name, value]];
    }),
  );
}

/** A client's mistake is not a failure of the server. */
function endedBy(outcome: { result: Response } | { thrown: unknown }): Ended {
  if ('thrown' in outcome)
    return { errorType: outcome.thrown instanceof Error ? outcome.thrown.name : '_OTHER' };
  const { status } = outcome.result;
  return {
    attributes: { 'http.response.status_code': status },
    ...(status < 500 ? {} : { errorType: String(status) }),
  };
}

const BY_NAME = new Map(operations.map((operation) => [operation.name, operation]));

const actSchema = z.strictObject({
  operation: z.string().min(1).max(100),
  args: z.record(z.string(), z.unknown()).default({}),
});

type Act = z.output<typeof actSchema>;

/** What a person wants to have done: one of the closed list, with who has decided where that is kept. */
function actOf(sent: Record<string, unknown>): Act | BmadError {
  const { data, success } = actSchema.safeParse(sent);
  if (!success)
    return new BmadError('invalid_input', 'Expected an object with "operation" and "args".', {
      hint: `Operations: ${FOR_PEOPLE.join(', ')}.`,
    });
  const { operation, args } = data;
  if (!isForPeople(operation))
    return new BmadError('not_found', 'There is no such operation for people.', {
      suggestions: nearest(operation, FOR_PEOPLE, 3),
      hint: `Operations: ${FOR_PEOPLE.join(', ')}. All others are below /api, or commands.`,
    });
  const keepsWho = 'by' in namedForPeople(operation).input.shape;
  return { operation, args: keepsWho ? { by: ON_THE_PAGE, ...args } : args };
}

function isForPeople(name: string): boolean {
  return FOR_PEOPLE.includes(name);
}

function namedForPeople(name: string): AnyOperation {
  const found = isForPeople(name) ? BY_NAME.get(name) : undefined;
  if (found === undefined) throw new Error(`There is no operation ${name} for people.`);
  return found;
}
