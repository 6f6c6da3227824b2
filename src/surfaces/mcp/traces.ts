import type { PROTOCOL_VERSION_META_KEY, Server, ServerContext } from '@modelcontextprotocol/server';
import type { Carrier, Ended, Tracing } from '../../base/process/tracing.ts';
import type { Context } from '../../operations/context.ts';

type Handler = (request: unknown, sdk: ServerContext) => unknown;
type Attributes = Record<string, string | number>;

/** Loaded only where there are traces, without the SDK. */
const VERSION_KEY: typeof PROTOCOL_VERSION_META_KEY = 'io.modelcontextprotocol/protocolVersion';

/** Requests about one thing that has a name. */
const TARGETED = new Set(['tools/call', 'prompts/get']);

const CARRIED = ['traceparent', 'tracestate', 'baggage'];

/**
 * Every request that gets a handler after this call becomes a span, by OpenTelemetry's MCP conventions: what was asked
 * for is recorded, the content is not. An unknown name counts as content.
 */
export function traceRequests(server: Server, tracing: Tracing, { tools, secrets }: Context): void {
  const set = server.setRequestHandler.bind(server) as (method: string, ...rest: unknown[]) => void;
  const traced = (method: string, ...rest: unknown[]): void => {
    const handler = rest.at(-1) as Handler;
    set(method, ...rest.slice(0, -1), (request: unknown, sdk: ServerContext) => {
      const params = paramsIn(request);
      const target = TARGETED.has(method) ? textAt(params, 'name') : undefined;
      const { uri } = params;
      return tracing.span(
        method,
        {
          'mcp.method.name': method,
          ...(method === 'tools/call' ? { 'gen_ai.operation.name': 'execute_tool' } : {}),
          ...(typeof uri === 'string' ? { 'mcp.resource.uri': shownUri(uri, secrets) } : {}),
          ...connectionOf(server, sdk),
        },
        carrierOf(sdk),
        async () => handler(request, sdk),
        (outcome) => {
          // Which tools and prompts there are depends on the content; what was answered was one of them.
          const exists = 'result' in outcome || tools.fixed.some(({ name }) => name === target);
          return target === undefined || !exists
            ? endedBy(outcome)
            : withTarget(endedBy(outcome), method, target);
        },
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

function withTarget(ended: Ended, method: string, target: string): Ended {
  const attribute = method === 'tools/call' ? 'gen_ai.tool.name' : 'gen_ai.prompt.name';
  return {
    ...ended,
    name: `${method} ${target}`,
    attributes: { ...ended.attributes, [attribute]: target },
  };
}

function connectionOf(server: Server, { sessionId, mcpReq, http }: ServerContext): Attributes {
  const envelope = (mcpReq.envelope ?? {}) as Record<string, unknown>;
  const version = envelope[VERSION_KEY] ?? server.getNegotiatedProtocolVersion();
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
    return (outcome.result as { isError?: unknown } | null)?.isError === true
      ? { errorType: 'tool_error' }
      : {};
  const { thrown } = outcome;
  // Only errors of the protocol have a number.
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'number'
    ? { errorType: String(thrown.code), attributes: { 'rpc.response.status_code': String(thrown.code) } }
    : { errorType: thrown instanceof Error ? thrown.name : '_OTHER' };
}

/** Without a query, which may hold anything, and without what must never be shown. */
function shownUri(uri: string, secrets: Context['secrets']): string {
  return secrets.redact(uri.split(/[?#]/, 1)[0] ?? '').slice(0, LONGEST);
}

const LONGEST = 300;

function textAt(params: Record<string, unknown>, key: string): string | undefined {
  const value = params[key];
  return typeof value === 'string' ? value.slice(0, LONGEST) : undefined;
}
