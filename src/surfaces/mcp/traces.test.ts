import { StreamableHTTPClientTransport, type Client } from '@modelcontextprotocol/client';
import { propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { contextIn, temporaryFolder } from '../../../tests/support/app.ts';
import { newClient } from '../../../tests/support/mcp-client.ts';
import { served } from '../../../tests/support/served.ts';
import { createMcpRoute } from './http/route.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const TRACEPARENT = `00-${TRACE}-${PARENT}-01`;

/** What a user sets up before the server starts. */
const exporter = new InMemorySpanExporter();
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });

const folder = await temporaryFolder(afterAll);
const context = await contextIn(folder, { flags: { traces: 'true' } });
let url = '';

beforeAll(async () => {
  trace.setGlobalTracerProvider(provider);
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  const route = createMcpRoute(context);
  url = `${(await served(context, [route], afterAll)).origin}${route.path}`;
  return () => {
    trace.disable();
    propagation.disable();
  };
});
beforeEach(() => exporter.reset());

async function connected(era: '2025' | '2026', headers: Record<string, string> = {}): Promise<Client> {
  const client = newClient({ mode: era === '2025' ? 'legacy' : { pin: '2026-07-28' } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  onTestFinished(() => client.close());
  return client;
}

const named = (name: string) => exporter.getFinishedSpans().find((span) => span.name === name);

describe('traces', () => {
  it('have a span for each request of a client of 2026, in the trace its message names', async () => {
    const client = await connected('2026', { traceparent: `00-${'1'.repeat(32)}-${PARENT}-01` });
    await client.callTool({
      name: 'bmad',
      arguments: { operation: 'list', query: 'agents' },
      _meta: { traceparent: TRACEPARENT },
    });
    const span = named('tools/call bmad');
    expect(span?.kind).toBe(SpanKind.SERVER);
    expect(span?.spanContext().traceId).toBe(TRACE);
    expect(span?.parentSpanContext?.spanId).toBe(PARENT);
    expect(span?.status.code).toBe(SpanStatusCode.UNSET);
    expect(span?.attributes).toEqual({
      'mcp.method.name': 'tools/call',
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'bmad',
      'mcp.protocol.version': '2026-07-28',
      'jsonrpc.request.id': expect.stringMatching(/^\d+$/),
      'network.transport': 'tcp',
    });
  });

  it('take the trace from the headers where the message names none, and name the session', async () => {
    const client = await connected('2025', { traceparent: TRACEPARENT });
    const { prompts } = await client.listPrompts();
    await client.getPrompt({ name: prompts[0]?.name ?? '' });
    const span = named(`prompts/get ${prompts[0]?.name}`);
    expect(span?.spanContext().traceId).toBe(TRACE);
    expect(span?.attributes).toMatchObject({
      'gen_ai.prompt.name': prompts[0]?.name,
      'mcp.session.id': expect.stringMatching(/^[\da-f-]{36}$/),
      'mcp.protocol.version': expect.stringMatching(/^2025-/),
    });
    expect(named('prompts/list')).toBeDefined();
  });

  it('say which tools and requests have failed, and nothing of what was said', async () => {
    const client = await connected('2026');
    await client.callTool({ name: 'bmad', arguments: { operation: 'read', agent: 'nobody-has-this-name' } });
    expect(named('tools/call bmad')).toMatchObject({
      status: { code: SpanStatusCode.ERROR },
      attributes: { 'error.type': 'tool_error' },
    });
    await expect(client.readResource({ uri: 'bmad://nowhere.md' })).rejects.toThrow('nowhere.md');
    expect(named('resources/read')).toMatchObject({
      status: { code: SpanStatusCode.ERROR },
      attributes: { 'error.type': '-32602', 'mcp.resource.uri': 'bmad://nowhere.md' },
    });
    expect(
      JSON.stringify(exporter.getFinishedSpans().map(({ attributes, events }) => [attributes, events])),
    ).not.toContain('nobody-has-this-name');
  });

  it('do not repeat names that nobody has, nor secrets in addresses', async () => {
    const client = await connected('2026');
    await expect(client.callTool({ name: 'my secret words 123' })).rejects.toThrow('There is no tool');
    await expect(client.getPrompt({ name: 'my other words 456' })).rejects.toThrow('There is no');
    context.secrets.add('a-registered-secret');
    for (const uri of ['bmad://nowhere.md?token=a1B2c3D4e5', 'bmad://a-registered-secret/x.md'])
      await expect(client.readResource({ uri })).rejects.toThrow('There is no');
    expect(named('tools/call')).toMatchObject({
      status: { code: SpanStatusCode.ERROR },
      attributes: { 'mcp.method.name': 'tools/call', 'error.type': '-32602' },
    });
    expect(named('prompts/get')).toBeDefined();
    expect(named('resources/read')?.attributes['mcp.resource.uri']).toBe('bmad://nowhere.md');
    const told = JSON.stringify(
      exporter.getFinishedSpans().map(({ name, attributes }) => [name, attributes]),
    );
    for (const word of ['secret words', 'other words', 'a1B2c3D4e5', 'registered'])
      expect(told).not.toContain(word);
  });

  it('are not made unless they are asked for', async () => {
    expect((await contextIn(folder)).tracing).toBeUndefined();
    expect(context.configWarnings).toEqual([]);
  });
});
