import type { Exchange } from '../../../base/http/http-route.ts';
import type { Carrier, Ended, Tracing } from '../../../base/process/tracing.ts';
import { BASE } from './paths.ts';

const CARRIED = ['traceparent', 'tracestate', 'baggage'];

/** A call as one span, by OpenTelemetry's HTTP conventions. `operation` is undefined for an unknown name. */
export async function traced(
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
