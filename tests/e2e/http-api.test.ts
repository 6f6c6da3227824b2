import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../support/app.ts';
import { serveHere } from '../support/http-server.ts';
import { newClient } from '../support/mcp-client.ts';
import { parseMetrics, type Family } from '../support/prometheus.ts';

const cwd = await temporaryFolder(afterAll);
const home = await temporaryFolder(afterAll);
let origin = '';

beforeAll(async () => {
  const server = await serveHere({ cwd, home });
  ({ origin } = new URL(server.url));
  return async () => void (await server.stop());
});

const figures = async (): Promise<Map<string, Family>> =>
  parseMetrics(await (await fetch(`${origin}/metrics`)).text());

describe('the built server over HTTP', () => {
  it('gives every operation it lists, and describes each', async () => {
    const { operations } = (await (await fetch(`${origin}/api`)).json()) as {
      operations: { path: string; methods: string[] }[];
    };
    const { paths } = (await (await fetch(`${origin}/openapi.json`)).json()) as { paths: object };
    const others = ['/api', '/openapi.json', '/healthz', '/readyz', '/metrics'];
    expect(Object.keys(paths)).toEqual([...operations.map(({ path }) => path), ...others]);
    expect(operations.length).toBeGreaterThan(60);
    for (const { path } of operations) {
      // What no operation takes is refused by each of them, in the same words.
      const response = await fetch(`${origin}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ nobody_takes_this: 1 }),
      });
      expect(response.headers.get('content-type'), path).toBe('application/problem+json');
      expect(await response.json(), path).toMatchObject({ status: 400, code: 'invalid_input' });
    }
  });

  it('counts what is called over MCP as well, and the sessions that are open', async () => {
    const before = (await figures()).get('bmad_calls_total')?.value({ operation: 'bmad' }) ?? 0;
    const client = newClient({ mode: 'legacy' });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${origin}/mcp`)));
    await client.callTool({ name: 'bmad', arguments: { operation: 'list', query: 'agents' } });
    const during = await figures();
    expect(during.get('bmad_calls_total')?.value({ operation: 'bmad' })).toBe(before + 1);
    expect(during.get('bmad_sessions')?.value({})).toBe(1);
    expect(during.get('bmad_catalogue_records')?.value({ kind: 'agent' })).toBe(5);
    await (client.transport as StreamableHTTPClientTransport).terminateSession();
    await client.close();
    expect((await figures()).get('bmad_sessions')?.value({})).toBe(0);
  });

  it('counts a tool that nobody has as one error, whatever it was called', async () => {
    const client = newClient({ mode: { pin: '2026-07-28' } });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${origin}/mcp`)));
    for (const name of ['no-such-tool', 'words of mine'])
      await expect(client.callTool({ name })).rejects.toThrow('There is no tool');
    await client.close();
    const after = await figures();
    expect(after.get('bmad_calls_total')?.value({ operation: '(unknown tool)' })).toBe(2);
    expect(
      after.get('bmad_call_errors_total')?.value({ operation: '(unknown tool)', code: 'not_found' }),
    ).toBe(2);
    expect(after.get('bmad_calls_total')?.value({ operation: 'find_agent_tool' })).toBeUndefined();
  });

  it('is alive and ready', async () => {
    expect(await (await fetch(`${origin}/healthz`)).json()).toEqual({ status: 'ok' });
    expect(await (await fetch(`${origin}/readyz`)).json()).toEqual({ status: 'ready' });
  });

  it('names all routes to whoever is lost', async () => {
    const response = await fetch(`${origin}/nowhere`);
    expect(response.status).toBe(404);
    const { detail } = (await response.json()) as { detail: string };
    for (const path of ['/mcp', '/api', '/openapi.json', '/healthz', '/readyz', '/metrics'])
      expect(detail).toContain(path);
  });
});
