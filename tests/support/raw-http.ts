import { once } from 'node:events';
import { request as httpRequest, type Agent, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text as textOf } from 'node:stream/consumers';

export interface Sent {
  method?: string;
  body?: unknown;
  headers?: Record<string, string>;
  path?: string;
  agent?: Agent;
}

export interface Received {
  status: number;
  headers: IncomingMessage['headers'];
  text: string;
}

/** The response as soon as its headers are there. Not `fetch`: that one does not let a test choose the header Host. */
export async function openRequest(origin: string, sent: Sent): Promise<IncomingMessage> {
  const { method = 'POST', body, headers = {}, path = '/mcp', agent } = sent;
  const { hostname, port } = new URL(origin);
  const asked = httpRequest({
    hostname,
    port,
    path,
    method,
    ...(agent === undefined ? {} : { agent }),
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
  });
  const answered = once(asked, 'response') as Promise<[IncomingMessage]>;
  asked.end(typeof body === 'string' ? body : JSON.stringify(body));
  const [response] = await answered;
  // A server that refuses a body does not read it to its end.
  asked.on('error', () => undefined);
  return response;
}

export async function sendRequest(origin: string, sent: Sent): Promise<Received> {
  const response = await openRequest(origin, sent);
  return { status: response.statusCode ?? 0, headers: response.headers, text: await textOf(response) };
}

/** A request as it goes over the wire, for a bare connection. */
export function requestText({ body, headers = {}, path = '/mcp' }: Sent): string {
  const text = JSON.stringify(body);
  const lines = Object.entries({
    host: 'localhost',
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'content-length': String(Buffer.byteLength(text)),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}`);
  return `POST ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${text}`;
}

/** A bare connection, for what no client would send. */
export async function openSocket(origin: string): Promise<Socket> {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname.replace(/^\[|\]$/g, ''));
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/** Everything the server says on a connection until it ends it. */
export async function allOf(socket: Socket): Promise<string> {
  let text = '';
  socket.setEncoding('utf8').on('data', (piece: string) => (text += piece));
  await once(socket, 'close');
  return text;
}

export const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};
export const LIST = { jsonrpc: '2.0', id: 2, method: 'tools/list', params: {} };

/** A message of the 2026 protocol, with the headers that go with it. */
export function modern(
  method: string,
  params: Record<string, unknown> = {},
  capabilities: Record<string, unknown> = {},
  client = 'test',
): { body: unknown; headers: Record<string, string> } {
  const name = params['name'] ?? params['uri'];
  return {
    body: {
      jsonrpc: '2.0',
      id: 3,
      method,
      params: {
        ...params,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientInfo': { name: client, version: '1' },
          'io.modelcontextprotocol/clientCapabilities': capabilities,
        },
      },
    },
    headers: {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
    },
  };
}
