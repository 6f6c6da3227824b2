import type { Context as TraceContext, Span } from '@opentelemetry/api';
import { optionalPackage } from './process.ts';
import { SERVER_PROGRAM, VERSION } from '../product.ts';

type Api = typeof import('@opentelemetry/api');

/** The caller's trace, in the names of W3C Trace Context. */
export type Carrier = Readonly<Record<string, string>>;

/** The outcome of a request: what is known about it only now, and why it failed, if it did. */
export interface Ended {
  /** A more specific name than the initial one. */
  name?: string;
  attributes?: Readonly<Record<string, string | number>>;
  /** A word for the kind of failure; there are only a few. */
  errorType?: string;
}

/** Records traces of client requests. */
export interface Tracing {
  /** Runs something as one span of the caller's trace. `ended` reports the outcome. */
  span<T>(
    name: string,
    attributes: Readonly<Record<string, string | number>>,
    carrier: Carrier,
    work: () => Promise<T>,
    ended: (outcome: { result: T } | { thrown: unknown }) => Ended,
  ): Promise<T>;
}

/** Passes spans to whatever exporter the user has set up; it is not part of this package and may be missing. */
export const TRACING_PACKAGE = '@opentelemetry/api';

/** Undefined if the package is not installed. The person who starts the process decides where the spans go. */
export function openTracing(): Tracing | undefined {
  const api = optionalPackage<Api>(TRACING_PACKAGE);
  return api === undefined ? undefined : tracingWith(api);
}

function tracingWith({ context, propagation, trace, SpanKind, SpanStatusCode }: Api): Tracing {
  return {
    async span(name, attributes, carrier, work, ended) {
      const parent: TraceContext = propagation.extract(context.active(), carrier);
      const tracer = trace.getTracer(SERVER_PROGRAM, VERSION);
      const span: Span = tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, parent);
      const close = ({ name: better, attributes: more = {}, errorType }: Ended): void => {
        if (better !== undefined) span.updateName(better);
        span.setAttributes(more);
        if (errorType !== undefined) {
          span.setAttribute('error.type', errorType);
          span.setStatus({ code: SpanStatusCode.ERROR });
        }
        span.end();
      };
      try {
        const result = await context.with(trace.setSpan(parent, span), work);
        close(ended({ result }));
        return result;
      } catch (thrown) {
        close(ended({ thrown }));
        throw thrown;
      }
    },
  };
}
