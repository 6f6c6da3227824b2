import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  LATEST_PROTOCOL_VERSION,
  PROTOCOL_VERSION_META_KEY,
  type JSONRPCMessage,
  type McpServerFactory,
  type Transport,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { SERVER_PROGRAM, VERSION } from '../../base/product.ts';

export type Era = Parameters<McpServerFactory>[0]['era'];

const MODERN_VERSION = '2026-07-28';
const CALL_ID = 2;
const clientInfo = { name: SERVER_PROGRAM, version: VERSION };

/**
 * A call to a server of its own, all the way through the SDK, whose answer nobody gets. The SDK compiles what it checks
 * messages with when the first of a kind comes, and that costs a client more than the call itself.
 */
export async function rehearse(
  factory: McpServerFactory,
  era: Era,
  args: Record<string, unknown>,
): Promise<void> {
  let answered = (): void => undefined;
  const answer = new Promise<void>((resolve) => (answered = resolve));
  const transport: Transport = {
    start: async () => undefined,
    async send(message) {
      if ('id' in message && message.id === CALL_ID) answered();
    },
    async close() {
      transport.onclose?.();
    },
  };
  const server = serveStdio(factory, { transport, onerror: answered });
  for (const message of messages(era, { name: 'bmad', arguments: args })) transport.onmessage?.(message);
  await answer;
  await server.close();
}

function messages(era: Era, call: Record<string, unknown>): JSONRPCMessage[] {
  const called = (params: Record<string, unknown>): JSONRPCMessage => ({
    jsonrpc: '2.0',
    id: CALL_ID,
    method: 'tools/call',
    params,
  });
  if (era === 'modern')
    return [
      called({
        ...call,
        _meta: {
          [PROTOCOL_VERSION_META_KEY]: MODERN_VERSION,
          [CLIENT_INFO_META_KEY]: clientInfo,
          [CLIENT_CAPABILITIES_META_KEY]: {},
        },
      }),
    ];
  const params = { protocolVersion: LATEST_PROTOCOL_VERSION, capabilities: {}, clientInfo };
  return [
    { jsonrpc: '2.0', id: 1, method: 'initialize', params },
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    called(call),
  ];
}
