import {
  isCallToolResult,
  PROTOCOL_VERSION_META_KEY,
  ProtocolError,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { Carrier, Ended, Tracing } from '../../base/tracing.ts';

type Handler = (request: unknown, sdk: ServerContext) => unknown;
type Attributes = Record<string, string | number>;

const CARRIED = ['traceparent', 'tracestate', 'baggage'];

/**
 * Every request that gets a handler from now on becomes a span, by the conventions of OpenTelemetry for MCP: what was
 * asked for is said, what was said in it is not.
 */
export function traceRequests(server: Server, tracing: Tracing): void {
  const set = server.setRequestHandler.bind(server) as (method: string, ...rest: unknown[]) => void;
  const traced = (method: string, ...rest: unknown[]): void => {
    const handler = rest.at(-1) as Handler;
    set(method, ...rest.slice(0, -1), (request: unknown, sdk: ServerContext) => {
      const params = paramsIn(request);
      const target = method === 'tools/call' || method === 'prompts/get' ? textAt(params, 'name') : undefined;
      return tracing.span(
        target === undefined ? method : `${method} ${target}`,
        { ...attributesOf(method, params, target), ...connectionOf(server, sdk) },
        carrierOf(sdk),
        async () => handler(request, sdk),
        endedBy,
      );
    });
  };
  server.setRequestHandler = traced;
}

/** Some handlers are given the whole request, others its parameters. */
function paramsIn(request: unknown): Record<string, unknown> {
  const given = (request ?? {}) as Record<string, unknown>;
  return typeof given['method'] === 'string' ? ((given['params'] ?? {}) as Record<string, unknown>) : given;
}

function attributesOf(
  method: string,
  params: Record<string, unknown>,
  target: string | undefined,
): Attributes {
  const uri = textAt(params, 'uri');
  return {
    'mcp.method.name': method,
    ...(method === 'tools/call' ? { 'gen_ai.operation.name': 'execute_tool' } : {}),
    ...(method === 'tools/call' && target !== undefined ? { 'gen_ai.tool.name': target } : {}),
    ...(method === 'prompts/get' && target !== undefined ? { 'gen_ai.prompt.name': target } : {}),
    ...(uri === undefined ? {} : { 'mcp.resource.uri': uri }),
  };
}

function connectionOf(server: Server, { sessionId, mcpReq, http }: ServerContext): Attributes {
  const envelope = (mcpReq.envelope ?? {}) as Record<string, unknown>;
  const version = envelope[PROTOCOL_VERSION_META_KEY] ?? server.getNegotiatedProtocolVersion();
  return {
    'jsonrpc.request.id': String(mcpReq.id),
    'network.transport': http === undefined ? 'pipe' : 'tcp',
    ...(typeof version === 'string' ? { 'mcp.protocol.version': version } : {}),
    ...(sessionId === undefined ? {} : { 'mcp.session.id': sessionId }),
  };
}

/** The trace a request belongs to: the message says it, or else the headers it came with. */
function carrierOf({ mcpReq, http }: ServerContext): Carrier {
  const meta = (mcpReq._meta ?? {}) as Record<string, unknown>;
  const named = (read: (name: string) => unknown): Carrier =>
    Object.fromEntries(
      CARRIED.flatMap((name) => {
        const value = read(name);
        return typeof value === 'string' ? [[name, value]] : [];
      }),
    );
  return typeof meta['traceparent'] === 'string'
    ? named((name) => meta[name])
    : named((name) => http?.req?.headers.get(name));
}

function endedBy(outcome: { result: unknown } | { thrown: unknown }): Ended {
  if ('result' in outcome)
    return isCallToolResult(outcome.result) && outcome.result.isError === true
      ? { errorType: 'tool_error' }
      : {};
  const { thrown } = outcome;
  return thrown instanceof ProtocolError
    ? { errorType: String(thrown.code), attributes: { 'rpc.response.status_code': String(thrown.code) } }
    : { errorType: thrown instanceof Error ? thrown.name : '_OTHER' };
}

const LONGEST = 300;

function textAt(params: Record<string, unknown>, key: string): string | undefined {
  const value = params[key];
  return typeof value === 'string' ? value.slice(0, LONGEST) : undefined;
}
