import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import {
  createMcpHandler,
  isLegacyRequest,
  McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import * as z from 'zod';

// The least a server on this SDK can be over HTTP, for both protocol eras: no checks, no limits, one tool.
const input = z.object({ text: z.string() });

function bareServer(): McpServer {
  const server = new McpServer({ name: 'bare', version: '1.0.0' });
  server.registerTool('echo', { description: 'Says the text back', inputSchema: input }, ({ text }) => ({
    content: [{ type: 'text', text }],
  }));
  return server;
}

const modern = createMcpHandler(bareServer, { legacy: 'reject' });
const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();

async function legacy(request: Request): Promise<Response> {
  const known = sessions.get(request.headers.get('mcp-session-id') ?? '');
  if (known !== undefined) return known.handleRequest(request);
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => void sessions.set(id, transport),
  });
  await bareServer().connect(transport);
  return transport.handleRequest(request);
}

async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const request = new Request(`http://127.0.0.1${incoming.url ?? '/'}`, {
    method: incoming.method ?? 'GET',
    headers: new Headers(incoming.headers as Record<string, string>),
    body: incoming.method === 'POST' ? await buffer(incoming) : null,
  });
  const response = (await isLegacyRequest(request)) ? await legacy(request) : await modern.fetch(request);
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  for await (const piece of response.body ?? []) outgoing.write(piece);
  outgoing.end();
}

const http = createServer((incoming, outgoing) => void serve(incoming, outgoing));
http.listen(0, '127.0.0.1', () => {
  process.stderr.write(`serves http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp\n`);
});
