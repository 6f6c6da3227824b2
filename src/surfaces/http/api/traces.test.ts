import { propagation, SpanStatusCode, trace } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { contextIn, temporaryFolder } from '../../../../tests/support/app.ts';
import { served } from '../../../../tests/support/served.ts';
import { createApiRoutes } from './route.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const TRACEPARENT = `00-${TRACE}-b7ad6b7169203331-01`;

const exporter = new InMemorySpanExporter();
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
const context = await contextIn(await temporaryFolder(afterAll), { flags: { traces: 'true' } });

beforeAll(() => {
  trace.setGlobalTracerProvider(provider);
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  return () => {
    trace.disable();
    propagation.disable();
  };
});

const named = (name: string) => exporter.getFinishedSpans().find((span) => span.name === name);

describe('traces', () => {
  it('have a span for each call of the HTTP API, in the trace its headers name', async () => {
    const { origin } = await served(context, createApiRoutes(context), onTestFinished);
    const call = (path: string): Promise<Response> =>
      fetch(`${origin}/api/${path}`, { headers: { traceparent: TRACEPARENT } });
    await call('search?query=very+private+words');
    await call('nobody-has-this-name');
    const span = named('GET /api/search');
    expect(span?.spanContext().traceId).toBe(TRACE);
    expect(span?.attributes).toEqual({
      'http.request.method': 'GET',
      'http.route': '/api/search',
      'http.response.status_code': 200,
      'network.transport': 'tcp',
    });
    expect(named('GET /api/{operation}')).toMatchObject({
      status: { code: SpanStatusCode.UNSET },
      attributes: { 'http.response.status_code': 404 },
    });
    expect(exporter.getFinishedSpans()).toHaveLength(2);
  });
});
