import { PassThrough } from 'node:stream';
import { createInterface } from 'node:readline';
import { afterAll, describe, expect, it } from 'vitest';
import { contextIn, temporaryFolder } from '../../../tests/support/app.ts';
import { FirstRequests, isInitialized, LISTS, TOOLS } from './early.ts';
import { serveStreams } from './stdio.ts';

type Fields = Record<string, unknown>;
const KEYS = 'io.modelcontextprotocol/';
const INFO = { name: 'gemini-cli', version: '1' };
const HELLO = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: INFO };
const META = {
  [`${KEYS}protocolVersion`]: '2026-07-28',
  [`${KEYS}clientInfo`]: INFO,
  [`${KEYS}clientCapabilities`]: {},
};
const _meta = META;

/** A connection whose earlier answers are these, by key, and what is kept of it. */
function connection(earlier: Record<string, string> = {}) {
  const kept: Record<string, string>[] = [];
  const first = new FirstRequests({
    answerTo: ({ own }) => earlier[own],
    keep: (answers) => void kept.push(answers),
  });
  const received = (id: unknown, method: string, params: Fields = {}): string | undefined =>
    first.received({ jsonrpc: '2.0', id, method, params });
  const answered = (id: string | number, result: Fields): string | undefined =>
    first.instead({ jsonrpc: '2.0', id, result });
  return {
    first,
    received,
    answered,
    /** What the next start would have. */
    async left(): Promise<Record<string, string>> {
      await new Promise(setImmediate);
      return Object.assign({}, ...kept) as Record<string, string>;
    },
    /** A request and its answer. */
    ask(id: number, method: string, params: Fields, result: Fields): string | undefined {
      received(id, method, params);
      return answered(id, result);
    },
  };
}

/** Answers everything it has a key for, and says under which. */
function keyOf(...requests: [method: string, params?: Fields][]): string | undefined {
  let last: string | undefined;
  const first = new FirstRequests({ answerTo: ({ own }) => ((last = own), '{}'), keep() {} });
  for (const [index, [method, params = {}]] of requests.entries()) {
    last = undefined;
    first.received({ jsonrpc: '2.0', id: index, method, params });
  }
  return last;
}

describe('the answers that are kept for the next start', () => {
  it('are kept apart for hosts that show apps, whose list of tools is longer', () => {
    const extensions = { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } };
    const listed = (capabilities: object): string | undefined =>
      keyOf(['initialize', { ...HELLO, capabilities }], [TOOLS]);
    expect(listed({ extensions })).not.toBe(listed({}));
    expect(listed({ extensions: { 'io.modelcontextprotocol/ui': {} } })).toBe(listed({}));
    const prompts = (name: string): string | undefined =>
      keyOf(['initialize', { ...HELLO, clientInfo: { name, version: '1' } }], ['prompts/list']);
    expect(prompts('gemini-cli')).toBe('prompts/list legacy gemini-cli');
    expect(prompts('gemini-cli')).not.toBe(prompts('claude-code'));
  });

  it('are those of the last list of prompts, also where it was another one before the tools were listed', async () => {
    const { first, received, answered, left } = connection({
      'initialize legacy 2025-06-18': '{}',
      'tools/list legacy': '{"tools":[]}',
      'prompts/list legacy gemini-cli': '{"prompts":[]}',
    });
    received(1, 'initialize', HELLO);
    received(2, TOOLS);
    expect(received(3, 'prompts/list')).toBe('{"result":{"prompts":[]},"jsonrpc":"2.0","id":3}\n');
    first.serve(LISTS, async () => true);
    // The server reads them too.
    expect(received(3, 'prompts/list')).toBeUndefined();
    expect(answered(1, {})).toBe('');
    expect(answered(3, { prompts: [{ name: 'new' }] })).toBe(
      '{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}\n',
    );
    expect(answered(2, { tools: [] })).toBe('');
    expect((await left())['prompts/list legacy gemini-cli']).toBe('{"prompts":[{"name":"new"}]}');
  });

  it('are given as often as they are asked for before the server is there, and once afterwards', () => {
    const { first, received, answered } = connection({ 'server/discover 2026-07-28': '{}' });
    const line = (id: number): string => `{"result":{},"jsonrpc":"2.0","id":${id}}\n`;
    expect(received(1, 'server/discover', { _meta })).toBe(line(1));
    expect(received(2, 'server/discover', { _meta })).toBe(line(2));
    first.serve(LISTS, async () => true);
    expect([answered(1, {}), answered(2, {})]).toEqual(['', '']);
    expect(received(3, 'server/discover', { _meta })).toBeUndefined();
  });

  it('are those of a list of several pages only when its last page has come', async () => {
    const { ask, left } = connection();
    ask(1, 'initialize', HELLO, {});
    ask(2, TOOLS, {}, { tools: [] });
    ask(3, 'resources/list', {}, { resources: [], nextCursor: 'more' });
    expect(Object.keys(await left())).not.toContain('resources/list legacy');
    ask(4, 'resources/list', { cursor: 'more' }, { resources: [] });
    expect(Object.keys(await left())).toEqual(
      expect.arrayContaining(['resources/list legacy', 'resources/list legacy more']),
    );
  });

  it('are of no list that went wrong and has no end for its client, or one that is far', async () => {
    const BUILT_IN = { 'resources/list legacy': '{"resources":[],"nextCursor":"built-in"}' };
    const page = (number: number): Fields => ({ resources: [{ uri: 'a:b' }], nextCursor: `page-${number}` });
    const one = connection(BUILT_IN);
    one.ask(1, 'initialize', HELLO, {});
    expect(one.received(2, 'resources/list')).toContain('built-in');
    one.first.serve(LISTS, async () => true);
    expect(one.answered(2, page(1))).toContain('list_changed');
    // It does not care, and never asks for the rest.
    one.ask(3, TOOLS, {}, { tools: [] });
    expect((await one.left())['resources/list legacy']).toBe('');
    const next = connection({ ...BUILT_IN, ...(await one.left()) });
    next.received(1, 'initialize', HELLO);
    expect(next.received(2, 'resources/list')).toBeUndefined();
    // Another client reads all of them: they are kept in place of the mark.
    next.answered(2, page(1));
    next.ask(3, TOOLS, {}, { tools: [] });
    next.ask(4, 'resources/list', { cursor: 'page-1' }, { resources: [] });
    expect((await next.left())['resources/list legacy']).toContain('page-1');

    const long = connection(BUILT_IN);
    long.ask(1, 'initialize', HELLO, {});
    long.ask(2, TOOLS, {}, { tools: [] });
    long.ask(3, 'resources/list', {}, page(1));
    for (let number = 1; number <= 6; number++)
      long.ask(
        number + 3,
        'resources/list',
        { cursor: `page-${number}` },
        number < 6 ? page(number + 1) : {},
      );
    expect(Object.entries(await long.left()).filter(([key]) => key.startsWith('resources'))).toEqual([
      ['resources/list legacy', ''],
    ]);
  });

  it('tell a client of the 2026 protocol of changes by each subscription to the list that has changed', () => {
    const earlier = { 'prompts/list 2026-07-28 gemini-cli': '{"prompts":[]}' };
    const listen = (notifications: Fields): Fields => ({ notifications, _meta });
    const { received, answered, first } = connection(earlier);
    expect(keyOf(['prompts/list', { _meta }])).toBeUndefined();
    received('p', 'subscriptions/listen', listen({ promptsListChanged: true, toolsListChanged: true }));
    received(
      'gone',
      'subscriptions/listen',
      listen({ promptsListChanged: true, resourcesListChanged: true }),
    );
    received('r', 'subscriptions/listen', listen({ promptsListChanged: false, resourcesListChanged: true }));
    received(
      'both',
      'subscriptions/listen',
      listen({ resourcesListChanged: true, promptsListChanged: true }),
    );
    first.received({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'gone' } });
    expect(received(7, 'prompts/list', { _meta })).toContain('"prompts":[]');
    const told = (answered(7, { prompts: [{ name: 'new' }] }) ?? '').trim().split('\n');
    expect(told.map((line) => JSON.parse(line) as unknown)).toEqual(
      ['p', 'both'].map((id) => ({
        jsonrpc: '2.0',
        method: 'notifications/prompts/list_changed',
        params: { _meta: { [`${KEYS}subscriptionId`]: id } },
      })),
    );
  });
});

describe('a request gets no early answer where the server refuses it', () => {
  const without = (fields: Fields, name: string): Fields =>
    Object.fromEntries(Object.entries(fields).filter(([key]) => key !== name));
  const meta = (more: Fields): Fields => ({ _meta: { ...META, ...more } });
  const hello = (more: Fields): [string, unknown] => ['initialize', { ...HELLO, ...more }];
  const capable = (capabilities: unknown): [string, unknown] => hello({ capabilities });
  const GREET: [string, unknown] = hello({});
  const LISTEN = 'subscriptions/listen';

  /** What a client says first, the last of which may be malformed. */
  const MALFORMED: [string, unknown][][] = [
    ...['protocolVersion', 'capabilities', 'clientInfo'].map((name) => [
      ['initialize', without(HELLO, name)] as [string, unknown],
    ]),
    ...[null, 5, [], 'x'].map((params) => [['initialize', params] as [string, unknown]]),
    [hello({ protocolVersion: ['2025-06-18'] })],
    [hello({ protocolVersion: 20250618 })],
    [hello({ clientInfo: { name: 'gemini-cli' } })],
    [hello({ clientInfo: { name: 5, version: '1' } })],
    [hello({ clientInfo: { ...INFO, title: 5 } })],
    [hello({ _meta: null })],
    [hello({ _meta: { progressToken: {} } })],
    [capable({ roots: true })],
    [capable({ roots: { listChanged: 'yes' } })],
    [capable({ sampling: { tools: true } })],
    [capable({ elicitation: { form: { applyDefaults: 'no' } } })],
    [capable({ experimental: { 'codex/auth-change': true } })],
    [capable({ extensions: { 'io.modelcontextprotocol/ui': [] } })],
    [capable([])],
    ...[5, {}].map((cursor): [string, unknown][] => [GREET, ['prompts/list', { cursor }]]),
    [GREET, ['prompts/list', { _meta: 5 }]],
    [GREET, ['server/discover', meta({})]],
    [[TOOLS, { _meta: without(META, `${KEYS}clientCapabilities`) }]],
    [[TOOLS, meta({ [`${KEYS}clientCapabilities`]: [] })]],
    [[TOOLS, meta({ [`${KEYS}clientCapabilities`]: { roots: { listChanged: 1 } } })]],
    [[TOOLS, meta({ [`${KEYS}clientInfo`]: { name: 'gemini-cli' } })]],
    [[TOOLS, meta({ [`${KEYS}protocolVersion`]: 2026 })]],
    [[TOOLS, meta({ [`${KEYS}logLevel`]: 'loud' })]],
    [['server/discover', { _meta: without(META, `${KEYS}clientCapabilities`) }]],
    [['initialize', { ...HELLO, ...meta({}) }]],
    [
      [TOOLS, meta({})],
      [TOOLS, {}],
    ],
    [[LISTEN, { ...meta({}), notifications: { promptsListChanged: 'yes' } }]],
    [[LISTEN, meta({})]],
  ];
  const PROPER: [string, unknown][][] = [
    [GREET],
    [capable({ roots: { listChanged: true }, elicitation: { form: {}, url: {} }, sampling: {} })],
    [capable({ experimental: { 'codex/auth-change': {} }, tasks: { requests: { sampling: {} } } })],
    [GREET, ['prompts/list', { _meta: { progressToken: 1 } }]],
    [GREET, [TOOLS, {}]],
    [['server/discover', meta({})], GREET],
    [['server/discover', { _meta: without(META, `${KEYS}clientInfo`) }]],
    [[TOOLS, meta({ progressToken: 'p' })]],
    [
      [LISTEN, { ...meta({}), notifications: { promptsListChanged: true } }],
      ['prompts/list', meta({})],
    ],
  ];

  const early = (requests: readonly [string, unknown][]): boolean => {
    const first = new FirstRequests({ answerTo: () => '{}', keep() {} });
    return requests
      .map(([method, params], id) => first.received({ jsonrpc: '2.0', id, method, params }) !== undefined)
      .every(Boolean);
  };

  /** Whether the server answers all of them, and with no error. */
  async function served(requests: readonly [string, unknown][]): Promise<boolean> {
    const context = await contextIn(await temporaryFolder(afterAll));
    const [input, output] = [new PassThrough(), new PassThrough()];
    const connected = serveStreams(context, input, output);
    const errors: unknown[] = [];
    createInterface({ input: output }).on('line', (line) => {
      const { error } = JSON.parse(line) as { error?: unknown };
      if (error !== undefined) errors.push(error);
    });
    for (const [id, [method, params]] of requests.entries()) {
      input.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
      if (method === 'initialize') input.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
    }
    input.end();
    await connected.ended;
    context.close();
    return errors.length === 0;
  }

  it.each(MALFORMED.map((requests) => ({ last: JSON.stringify(requests.at(-1)), requests })))(
    '$last',
    async ({ requests }) => {
      expect({ early: early(requests), served: await served(requests) }).toEqual({
        early: false,
        served: false,
      });
    },
  );

  it.each(PROPER.map((requests) => ({ last: JSON.stringify(requests.at(-1)), requests })))(
    'but does otherwise: $last',
    async ({ requests }) => {
      expect({ early: early(requests), served: await served(requests) }).toEqual({
        early: true,
        served: true,
      });
    },
  );

  it('nor a message that is no request', () => {
    const first = new FirstRequests({ answerTo: () => '{}', keep() {} });
    const message = { jsonrpc: '2.0', id: 1, method: 'initialize', params: HELLO };
    const others = [
      { ...message, jsonrpc: '1.0' },
      { ...message, id: 1.5 },
      { ...message, id: null },
      { ...message, more: 1 },
      [message],
      null,
    ];
    expect(others.map((other) => first.received(other))).toEqual(others.map(() => undefined));
    expect(first.received(message)).toBeDefined();
    expect([{ method: 'notifications/initialized' }, message, null].map(isInitialized)).toEqual([
      true,
      false,
      false,
    ]);
  });
});
