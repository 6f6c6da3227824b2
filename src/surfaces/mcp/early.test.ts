import { describe, expect, it } from 'vitest';
import { FirstRequests, LISTS, requestKeys } from './early.ts';

describe('the answers that are kept for the next start', () => {
  it('are kept apart for hosts that show apps, whose list of tools is longer', () => {
    const extensions = { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } };
    const listed = (capabilities: object): string => {
      const keyOf = requestKeys();
      keyOf('initialize', { capabilities });
      return keyOf('tools/list', {})?.own ?? '';
    };
    expect(listed({ extensions })).not.toBe(listed({}));
    const prompts = (name: string, params?: object): string => {
      const keyOf = requestKeys();
      keyOf('initialize', { clientInfo: { name, version: '1' } });
      return keyOf('prompts/list', params)?.own ?? '';
    };
    expect(prompts('gemini-cli')).toBe(prompts('gemini-cli', {}));
    expect(prompts('gemini-cli')).not.toBe(prompts('claude-code'));
    expect(requestKeys()('prompts/list', {})).toBeUndefined();
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
      answerTo: () => undefined,
      ofContent: LISTS,
      keep: (answers) => void kept.push({ ...answers }),
    });
    const params = { clientInfo: { name: 'gemini-cli', version: '1' } };
    first.received({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
    first.received({ jsonrpc: '2.0', id: 2, method: 'tools/list', params: {} });
    first.received({ jsonrpc: '2.0', id: 3, method: 'prompts/list', params: {} });
    const answered = (id: number, result: Record<string, unknown>) =>
      first.instead({ jsonrpc: '2.0', id, result });
    expect(answered(1, {})).toBe('');
    expect(answered(3, { prompts: [{ name: 'new' }] })).toBe(
      '{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}\n',
    );
    expect(answered(2, { tools: [] })).toBe('');
    expect(kept.map((answers) => answers['prompts/list legacy gemini-cli'])).toEqual([
      '{"prompts":[{"name":"new"}]}',
    ]);
  });

  it('are those of a list of several pages only when its last page has come', () => {
    const kept: Record<string, string>[] = [];
    const first = new FirstRequests({
      given: new Map(),
      answerTo: () => undefined,
      ofContent: LISTS,
      keep: (answers) => void kept.push(answers),
    });
    const ask = (id: number, method: string, params: object, result: Record<string, unknown>): void => {
      first.received({ jsonrpc: '2.0', id, method, params: { ...params } });
      first.instead({ jsonrpc: '2.0', id, result });
    };
    ask(1, 'initialize', {}, {});
    ask(2, 'tools/list', {}, { tools: [] });
    ask(3, 'resources/list', {}, { resources: [], nextCursor: 'more' });
    expect(Object.keys(kept.at(-1) ?? {})).not.toContain('resources/list legacy');
    ask(4, 'resources/list', { cursor: 'more' }, { resources: [] });
    expect(Object.keys(kept.at(-1) ?? {})).toEqual(
      expect.arrayContaining(['resources/list legacy', 'resources/list legacy more']),
    );
  });

  it('tell a client of the 2026 protocol of changes by its subscription, if it has one', () => {
    const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
    const keyOf = requestKeys();
    expect(keyOf('prompts/list', { _meta })).toBeUndefined();
    const first = new FirstRequests({
      given: new Map([[7, '{"prompts":[]}']]),
      answerTo: () => undefined,
      ofContent: LISTS,
      keep() {},
    });
    const params = { notifications: { promptsListChanged: true }, _meta };
    first.received({ jsonrpc: '2.0', id: 'listen:0', method: 'subscriptions/listen', params });
    first.received({ jsonrpc: '2.0', id: 7, method: 'prompts/list', params: { _meta } });
    expect(first.instead({ jsonrpc: '2.0', id: 7, result: { prompts: [{ name: 'new' }] } })).toBe(
      '{"jsonrpc":"2.0","method":"notifications/prompts/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"listen:0"}}}\n',
    );
  });
});
