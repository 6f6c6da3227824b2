import { describe, expect, it } from 'vitest';
import { FirstRequests, requestKeys } from './early.ts';

describe('the answers that are kept for the next start', () => {
  it('are kept apart for hosts that show apps, whose list of tools is longer', () => {
    const extensions = { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } };
    const listed = (capabilities: object): string => {
      const keyOf = requestKeys();
      keyOf('initialize', { capabilities });
      return keyOf('tools/list', {});
    };
    expect(listed({ extensions })).not.toBe(listed({}));
    const prompts = (name: string, params?: object): string => {
      const keyOf = requestKeys();
      keyOf('initialize', { clientInfo: { name, version: '1' } });
      return keyOf('prompts/list', params);
    };
    expect(prompts('gemini-cli')).toBe(prompts('gemini-cli', {}));
    expect(prompts('gemini-cli')).not.toBe(prompts('claude-code'));
    expect(requestKeys()('prompts/list', {})).toBe('');
    expect(listed({ extensions: { 'io.modelcontextprotocol/ui': {} } })).toBe(listed({}));
  });

  it('are those of the last list of prompts, also where it was another one before the tools were listed', () => {
    const kept: Record<string, string>[] = [];
    const given = new Map<unknown, string>([
      [1, '{}'],
      [2, '{"tools":[]}'],
      [3, '{"prompts":[]}'],
    ]);
    const first = new FirstRequests({
      given,
      kept: {},
      keep: (answers) => void kept.push({ ...answers }),
      forget() {},
    });
    const params = { clientInfo: { name: 'gemini-cli', version: '1' } };
    first.received({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
    first.received({ jsonrpc: '2.0', id: 2, method: 'tools/list', params: {} });
    first.received({ jsonrpc: '2.0', id: 3, method: 'prompts/list', params: {} });
    const answered = (id: number, result: Record<string, unknown>) =>
      first.isGiven({ jsonrpc: '2.0', id, result });
    expect(answered(1, {})).toBe(true);
    expect(answered(3, { prompts: [{ name: 'new' }] })).toBe('otherwise');
    expect(answered(2, { tools: [] })).toBe(true);
    expect(kept.map((answers) => answers['prompts/list {} gemini-cli'])).toEqual([
      '{"prompts":[{"name":"new"}]}',
    ]);
  });
});
