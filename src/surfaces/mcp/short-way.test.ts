import { PassThrough } from 'node:stream';
import { createInterface } from 'node:readline';
import { parseJSONRPCMessage, type JSONRPCMessage, type Server } from '@modelcontextprotocol/server';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { contextIn, temporaryFolder } from '../../../tests/support/app.ts';
import { isPlainRequest } from './early.ts';
import { ShortWay } from './short-way.ts';
import { serveStreams } from './stdio.ts';

type Fields = Record<string, unknown>;

const INITIALIZE = { protocolVersion: '2025-06-18', clientInfo: { name: 'client', version: '1' } };
const bmad = (args: unknown): Fields => ({ name: 'bmad', arguments: args });
const DELEGATE = { name: 'delegate_to_agent', arguments: { agent_id: 'architect', task: 'Look at it' } };
const ANSWER = { role: 'assistant', content: { type: 'text', text: 'Seen.' }, model: 'm' };

/** What goes on after a call: an answer to the question that comes, or that the call is not wanted any more. */
type Reply = 'answer' | 'refuse' | 'cancel';

/** All lines that a client gets for one call, which has something about it that is not plain where `more` is given. */
async function linesFor(
  folder: string,
  call: Fields,
  reply: Reply | undefined,
  more: Fields = {},
): Promise<string[]> {
  const context = await contextIn(folder);
  const [input, output] = [new PassThrough(), new PassThrough()];
  const connected = serveStreams(context, input, output);
  const say = (message: Fields): void =>
    void input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const lines: string[] = [];
  const capabilities = { sampling: {}, elicitation: {} };
  say({ id: 'hello', method: 'initialize', params: { ...INITIALIZE, capabilities } });
  say({ method: 'notifications/initialized' });
  for await (const line of createInterface({ input: output })) {
    const { id, method } = JSON.parse(line) as { id?: unknown; method?: string };
    if (id === 'hello') say({ id: 'call', method: 'tools/call', params: { ...call, ...more } });
    else lines.push(line);
    if (method === 'sampling/createMessage') {
      if (reply === 'cancel') say({ method: 'notifications/cancelled', params: { requestId: 'call' } });
      say(reply === 'answer' ? { id, result: ANSWER } : { id, error: { code: -1, message: 'no' } });
      // Whatever would still come of it has come before the answer to this.
      if (reply === 'cancel') say({ id: 'last', method: 'tools/call', params: bmad({ operation: 'next' }) });
    }
    if (id === 'last' || (id === 'call' && method === undefined)) break;
  }
  input.end();
  await connected.ended;
  context.close();
  return lines;
}

describe('a call that does not go through the SDK', () => {
  it.each<{ what: string; call: Fields; reply?: Reply }>([
    { what: 'lists', call: bmad({ operation: 'list', query: 'agents' }) },
    { what: 'reads', call: bmad({ operation: 'read', agent: 'architect' }) },
    { what: 'starts an agent', call: bmad({ operation: 'execute', agent: 'architect', message: 'hi' }) },
    { what: 'has no arguments', call: { name: 'bmad' } },
    { what: 'has wrong arguments', call: bmad({ operation: 'dance', 'ünknown ': [null] }) },
    { what: 'names nothing that is there', call: bmad({ operation: 'read', agent: 'nobody' }) },
    { what: 'names no tool', call: { name: 'nothing', arguments: {} } },
    { what: 'names a tool that is switched off', call: { name: 'list_workflows', arguments: {} } },
    {
      what: 'has other marks',
      call: { ...bmad({ command: '*party-mode' }), _meta: { 'host/id': { a: 1 } } },
    },
    { what: 'writes', call: { name: 'log_failure', arguments: { text: 'x' } } },
    { what: 'asks the client', call: DELEGATE, reply: 'answer' },
    { what: 'asks and tells', call: { ...DELEGATE, _meta: { progressToken: 7 } }, reply: 'answer' },
    { what: 'asks in vain', call: DELEGATE, reply: 'refuse' },
    { what: 'is cancelled while it asks', call: DELEGATE, reply: 'cancel' },
  ])('$what, and is answered to the byte as one that does', async ({ call, reply }) => {
    const folder = await temporaryFolder(afterAll);
    const short = await linesFor(folder, call, reply);
    const whole = await linesFor(folder, call, reply, { elsewhere: true });
    expect(short).toEqual(whole);
    expect(short.length).toBeGreaterThan(0);
  });
});

describe('what is plain', () => {
  const server = { getClientCapabilities: () => ({}) } as unknown as Server;
  const way = (of: Server = server): ShortWay => {
    const all = new ShortWay({ start: async () => {}, send: async () => {}, close: async () => {} });
    all.serve(of, async () => ({ content: [] }));
    return all;
  };
  const call = (params: Fields, more: { method?: string } = {}): JSONRPCMessage => ({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params,
    ...more,
  });

  it('is a call with a name, arguments and marks of its client', () => {
    const plain = [{ name: 'a' }, { name: 'a', arguments: {}, _meta: { progressToken: 1, 'host/id': 2 } }];
    expect(plain.map((params) => way().takes(call(params)))).toEqual([true, true]);
  });

  it.each<[string, Fields]>([
    ['no name', { arguments: {} }],
    ['arguments that are none', { name: 'a', arguments: [] }],
    ['arguments that schemas leave out', { name: 'a', arguments: JSON.parse('{"__proto__":1}') as Fields }],
    ['a task', { name: 'a', task: { ttl: 1 } }],
    ['answers to questions', { name: 'a', inputResponses: {} }],
    ['a token that is none', { name: 'a', _meta: { progressToken: 1.5 } }],
    [
      'marks of the protocol',
      { name: 'a', _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } },
    ],
  ])('is nothing with %s', (_, params) => {
    expect(way().takes(call(params))).toBe(false);
  });

  it('is no other message, and nothing before the client has said who it is', () => {
    const stranger = { getClientCapabilities: () => undefined } as unknown as Server;
    expect(way(stranger).takes(call({ name: 'a' }))).toBe(false);
    expect(way().takes(call({ name: 'a' }, { method: 'prompts/get' }))).toBe(false);
    expect(way().takes({ jsonrpc: '2.0', id: 1, result: {} })).toBe(false);
    expect(way().takes({ jsonrpc: '2.0', method: 'tools/call', params: { name: 'a' } })).toBe(false);
  });

  it('is no request that the SDK would refuse or change', () => {
    const anything = fc.oneof(fc.constant('2.0'), fc.string(), fc.double(), fc.constant(null), fc.object());
    const meta = fc.record({ progressToken: anything, a: anything }, { requiredKeys: [] });
    const params = fc.oneof(anything, fc.record({ _meta: fc.oneof(meta, anything), name: anything }));
    const request = fc.record(
      { jsonrpc: anything, id: fc.oneof(anything, fc.integer()), method: anything, params, more: anything },
      { requiredKeys: ['jsonrpc', 'method'] },
    );
    let plain = 0;
    fc.assert(
      fc.property(request, (message) => {
        if (!isPlainRequest(message)) return;
        plain += 1;
        expect(parseJSONRPCMessage(message)).toEqual(message);
      }),
      { numRuns: 1_000 },
    );
    expect(plain).toBeGreaterThan(0);
  });
});
