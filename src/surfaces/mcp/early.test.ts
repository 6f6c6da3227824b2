import { describe, expect, it } from 'vitest';
import { requestKeys } from './early.ts';

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
});
