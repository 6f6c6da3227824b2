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
    expect(listed({ extensions: { 'io.modelcontextprotocol/ui': {} } })).toBe(listed({}));
  });
});
