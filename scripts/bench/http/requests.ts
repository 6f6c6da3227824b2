/** A request of the load, and what a right answer holds. */
export interface Shot {
  method: 'POST';
  headers: Record<string, string>;
  body: string;
}

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
};

const JSON_HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};

/** As a client of the 2026 protocol sends it: with everything in it, and no session. */
export function modernShot(method: string, params: Record<string, unknown> = {}): Shot {
  const name = typeof params['name'] === 'string' ? { 'mcp-name': params['name'] } : {};
  return {
    method: 'POST',
    headers: { ...JSON_HEADERS, 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...name },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: META } }),
  };
}

let lastId = 1;

/** As a client of the 2025 protocol sends it, in its session: there, every request under way has a number of its own. */
export function sessionShot(session: string, method: string, params: Record<string, unknown> = {}): Shot {
  return {
    method: 'POST',
    headers: { ...JSON_HEADERS, 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' },
    body: JSON.stringify({ jsonrpc: '2.0', id: (lastId += 1), method, params }),
  };
}

export async function openSession(url: string, more: Record<string, string> = {}): Promise<string> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...JSON_HEADERS, ...more },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 0,
      method: 'initialize',
      params: {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'bench', version: '1' },
      },
    }),
  });
  await response.text();
  const session = response.headers.get('mcp-session-id');
  if (session === null) throw new Error(`${url} opened no session: ${response.status}.`);
  return session;
}
