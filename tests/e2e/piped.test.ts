import { spawn } from 'node:child_process';
import { afterAll, describe, expect, it } from 'vitest';
import { serverFile, temporaryFolder } from '../support/app.ts';

const line = (message: object): string => JSON.stringify({ jsonrpc: '2.0', ...message });

/** Writes everything at once and closes, as `printf … | bmad-mcp-server` does. */
async function piped(
  text: string,
): Promise<{ replies: { id?: number; result?: unknown }[]; code: number | null }> {
  const folder = await temporaryFolder(afterAll);
  const child = spawn(process.execPath, [serverFile], {
    cwd: folder,
    env: { ...process.env, HOME: folder },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
  child.stdin.end(text);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return {
    replies: output
      .trim()
      .split('\n')
      .map((reply) => JSON.parse(reply) as { id?: number }),
    code,
  };
}

describe('requests from a pipe that ends at once', () => {
  const start = [
    line({
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'pipe', version: '1' } },
    }),
    line({ method: 'notifications/initialized' }),
    line({
      id: 2,
      method: 'tools/call',
      params: { name: 'bmad', arguments: { operation: 'list', query: 'agents' } },
    }),
  ].join('\n');

  it.each([
    ['with a last line end', `${start}\n`],
    ['without one', start],
  ])('are all answered, %s', async (_how, text) => {
    const { replies, code } = await piped(text);
    expect(replies.map(({ id }) => id)).toEqual([1, 2]);
    expect(JSON.stringify(replies[1])).toContain('Winston');
    expect(code).toBe(0);
  });
});
