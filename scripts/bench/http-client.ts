import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** A request of the load, and what a right answer holds. */
interface Shot {
  method: 'POST';
  headers: Record<string, string>;
  body: string;
}

const JSON_HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};

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

interface HttpServer {
  name: string;
  url: string;
  pid: number;
  stop(): Promise<void>;
}

/** Starts a server that says on stderr where it serves. */
export async function startServer(
  name: string,
  args: string[],
  { cwd, env }: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<HttpServer> {
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = once(child, 'exit');
  const said: string[] = [];
  const lines = createInterface({ input: child.stderr });
  const url = await new Promise<string>((resolve, reject) => {
    lines.on('line', (line) => {
      said.push(line);
      const found = /serves (http:\S+)/.exec(line)?.[1];
      if (found !== undefined) resolve(found);
    });
    void ended.then(() => reject(new Error(`${name} ended before it served:\n${said.join('\n')}`)));
  });
  return {
    name,
    url,
    pid: child.pid ?? 0,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
