import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../support/app.ts';
import { expectError, expectServing } from '../support/error-answers.ts';
import { INITIALIZE, LineClient, type Id, type Lines, linesHere } from '../support/line-client.ts';

const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
const METHOD_NOT_FOUND = -32_601;
const INVALID_PARAMS = -32_602;

const cwd = await temporaryFolder(afterAll);
const home = await temporaryFolder(afterAll);
const LIST = { name: 'bmad', arguments: { operation: 'list', query: 'agents' } };

function freshClient(): Lines {
  const client = linesHere({ cwd, home });
  onTestFinished(async () => void (await client.close()));
  return client;
}

/** The program, with all that it has to say on stderr. */
function loudClient(): LineClient {
  const client = new LineClient({ cwd, home, env: { BMAD_LOG_LEVEL: 'debug' } });
  onTestFinished(async () => void (await client.close()));
  return client;
}

// One server has to live through all the faults of this file; that is part of what is tested.
describe('a server that gets nonsense', () => {
  let client: LineClient;
  beforeAll(async () => {
    client = await LineClient.connect({ cwd, home });
    return () => client.close();
  });
  afterEach(() => expectServing(client));

  it.each([
    ['text', 'hello there'],
    ['half an object', '{"jsonrpc":"2.0","id":1,'],
    ['two messages on a line', '{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0"}'],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0xff, 0xfe, 0xc0, 0x7d])],
    ['NUL bytes', '\0\0\0'],
    ['HTTP', 'POST /mcp HTTP/1.1\r'],
  ])('answers a line of %s with a parse error', async (_name, line) => {
    await client.write(Buffer.concat([Buffer.from(line), Buffer.from('\n')]));
    const answer = await client.answer(null);
    expect(answer.error?.code).toBe(PARSE_ERROR);
    expectError(answer);
  });

  it.each([
    ['null', null],
    ['[]', null],
    ['{}', null],
    ['42', null],
    ['"text"', null],
    ['{"jsonrpc":"1.0","id":"one","method":"ping"}', 'one'],
    ['{"id":2,"method":"ping"}', 2],
    ['{"jsonrpc":"2.0","id":3,"method":42}', 3],
    ['{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}', null],
    ['{"jsonrpc":"2.0","id":4,"method":"tools/list","params":[]}', 4],
    ['{"jsonrpc":"2.0","id":5,"method":"tools/list","params":"text"}', 5],
    ['[{"jsonrpc":"2.0","id":6,"method":"ping"}]', null],
  ] as [string, Id][])('refuses %s as no request', async (line, id) => {
    await client.write(`${line}\n`);
    const answer = await client.answer(id);
    expect(answer.error?.code).toBe(INVALID_REQUEST);
    expectError(answer);
  });

  it.each([
    ['nope', 'nope'],
    ['of no name', ''],
    ['in capitals', 'TOOLS/LIST'],
    ['__proto__', '__proto__'],
    ['toString', 'toString'],
    ['of 100,000 characters', 'x'.repeat(100_000)],
  ])('knows no method %s', async (_name, method) => {
    const answer = await client.request(method, {});
    expect(answer.error?.code).toBe(METHOD_NOT_FOUND);
    expectError(answer);
  });

  it.each([
    ['an unknown notification', { method: 'notifications/whatever', params: { a: 1 } }],
    ['a notification of a request', { method: 'tools/list' }],
    [
      'a cancellation of an unknown request',
      { method: 'notifications/cancelled', params: { requestId: 987 } },
    ],
    ['a cancellation without an id', { method: 'notifications/cancelled' }],
    ['a cancellation with a strange id', { method: 'notifications/cancelled', params: { requestId: {} } }],
    ['an answer nobody asked for', { id: 654, result: {} }],
    ['progress nobody asked for', { method: 'notifications/progress', params: { progressToken: 1 } }],
  ])('ignores %s', async (_name, message) => {
    await client.send({ jsonrpc: '2.0', ...message });
    // An answer to it would come before this one and be found unread.
    expect((await client.request('ping')).result).toEqual({});
  });

  it('ignores the cancellation of a request it has answered', async () => {
    await client.request('ping', {}, 'finished');
    await client.send({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: 'finished' },
    });
    expect((await client.request('ping', {}, 'finished')).result).toEqual({});
  });

  it('answers a second initialize and goes on', async () => {
    const { result } = await client.initialize();
    expect(result).toMatchObject({ protocolVersion: INITIALIZE.protocolVersion });
  });

  it('ignores empty lines', async () => {
    await client.write('\n\r\n  \n\n');
    expect((await client.request('ping')).result).toEqual({});
  });

  it('answers a request of 20 MB that asks for nonsense', async () => {
    const answer = await client.callTool({ operation: 'execute', agent: 'x'.repeat(20_000_000) });
    expect(answer.id).toBeTypeOf('number');
    expectError(answer, '"agent"', '20000000');
  });

  it('refuses a line of 40 MB in few words and tells which request it was', async () => {
    const answer = await client.request('ping', { long: 'x'.repeat(40_000_000) }, 'long');
    expect(answer.error?.code).toBe(INVALID_REQUEST);
    expectError(answer, 'bytes');
  });

  it.each(['"\\x"', '007', '{}'])('survives a line of 40 MB with the malformed id %s', async (id) => {
    await client.write(`{"jsonrpc":"2.0","id":${id},"x":"${'x'.repeat(40_000_000)}"}\n`);
    const answer = await client.answer(null);
    expect(answer.error?.code).toBe(INVALID_REQUEST);
    expectError(answer);
  });

  it('answers arguments that are nested 100,000 deep', async () => {
    const [open, close] = ['{"a":'.repeat(100_000), '}'.repeat(100_000)];
    await client.write(
      `{"jsonrpc":"2.0","id":"deep","method":"tools/call","params":{"name":"bmad","arguments":${open}1${close}}}\n`,
    );
    const answer = await client.answer('deep');
    expect(answer.result).toHaveProperty('isError', true);
    expectError(answer, '"a"');
  });
});

describe('a server that gets unusual but good lines', () => {
  let client: LineClient;
  beforeAll(async () => {
    client = await LineClient.connect({ cwd, home });
    return () => client.close();
  });
  afterEach(() => expectServing(client));

  it.each([
    ['text', 'abc'],
    ['0', 0],
    ['-1', -1],
    ['the largest whole number', Number.MAX_SAFE_INTEGER],
    ['2,000 characters', 'x'.repeat(2_000)],
    ['no characters', ''],
    ['characters that need escaping', '"\\\n\u2028🏗️'],
  ] as [string, Id][])('gives an id of %s back unchanged', async (_name, id) => {
    const answer = await client.request('tools/call', LIST, id);
    expect(answer.id).toBe(id);
    expect(answer.result).toBeDefined();
  });

  it('answers 1,000 requests that come in one write', async () => {
    const lines = Array.from({ length: 1_000 }, (_value, id) =>
      JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: LIST }),
    );
    await client.write(`${lines.join('\n')}\n`);
    const answers = await Promise.all(lines.map((_line, id) => client.answer(id)));
    expect(new Set(answers.map(({ result }) => JSON.stringify(result))).size).toBe(1);
    expect(answers[0]?.result).not.toHaveProperty('isError');
    expect(client.stderr).toBe('');
  });

  it('understands a request that is cut inside a character', async () => {
    const message = 'Plan 🏗️ für Zoë';
    const call = { name: 'bmad', arguments: { operation: 'execute', agent: 'architect', message } };
    const bytes = Buffer.from(
      `${JSON.stringify({ jsonrpc: '2.0', id: 'cut', method: 'tools/call', params: call })}\n`,
    );
    const middle = bytes.indexOf(Buffer.from('🏗️')) + 2;
    // The ping goes with the first half, so its answer says that the first half has been read.
    await client.write(
      Buffer.concat([
        Buffer.from('{"jsonrpc":"2.0","id":"half","method":"ping"}\n'),
        bytes.subarray(0, middle),
      ]),
    );
    await client.answer('half');
    await client.write(bytes.subarray(middle));
    expect(JSON.stringify((await client.answer('cut')).result)).toContain(message);
  });

  it('understands a request that comes byte by byte', async () => {
    for (const byte of Buffer.from('{"jsonrpc":"2.0","id":"bytes","method":"ping"}\n'))
      await client.write(Buffer.from([byte]));
    expect((await client.answer('bytes')).result).toEqual({});
  });

  it('understands lines that end as on Windows and begin with a byte order mark', async () => {
    await client.write(
      '\uFEFF{"jsonrpc":"2.0","id":"w1","method":"ping"}\r\n{"jsonrpc":"2.0","id":"w2","method":"ping"}\r\n',
    );
    expect((await client.answer('w1')).result).toEqual({});
    expect((await client.answer('w2')).result).toEqual({});
  });
});

describe('a client that does not read', () => {
  it('gets all of its answers later, and the server says nothing about it on stderr', async () => {
    const client = loudClient();
    await client.initialize();
    client.child.stdout.pause();
    const lines = Array.from({ length: 1_000 }, (_value, id) =>
      JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: LIST }),
    );
    await client.write(`${lines.join('\n')}\n`);
    // The log tells when every answer has been made, while nobody has read one.
    await client.logged('"message":"operation"', lines.length);
    client.child.stdout.resume();
    const answers = await Promise.all(lines.map((_line, id) => client.answer(id)));
    expect(answers.every(({ result }) => result !== undefined)).toBe(true);
    for (const line of client.stderr.trim().split('\n')) expect(line).toMatch(/^\{"time":/);
  });
});

describe('the opening', () => {
  it('serves a request that comes before initialize', async () => {
    const client = freshClient();
    expect((await client.request('tools/list', {})).result).toHaveProperty('tools.0.name', 'bmad');
    await expectServing(client);
  });

  it('survives nonsense before initialize', async () => {
    const client = freshClient();
    await client.write('nonsense\n{}\n');
    expect((await client.answer(null)).error?.code).toBe(PARSE_ERROR);
    expect((await client.answer(null)).error?.code).toBe(INVALID_REQUEST);
    await client.initialize();
    await expectServing(client);
  });

  it('offers a version it knows to a client that asks for one of 1999', async () => {
    const client = freshClient();
    const { result } = await client.request('initialize', { ...INITIALIZE, protocolVersion: '1999-01-01' });
    expect(result?.['protocolVersion']).toMatch(/^20\d\d-\d\d-\d\d$/);
    await expectServing(client);
  });

  it.each([[{}], [{ protocolVersion: 42 }], [{ ...INITIALIZE, clientInfo: 'me' }]])(
    'refuses initialize with %j and takes a right one afterwards',
    async (params) => {
      const client = freshClient();
      const answer = await client.request('initialize', params);
      expect(answer.error).toBeDefined();
      expectError(answer);
      await client.initialize();
      await expectServing(client);
    },
  );

  it('refuses a version of the per-request kind that it does not know', async () => {
    const client = freshClient();
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2099-01-01',
      'io.modelcontextprotocol/clientInfo': INITIALIZE.clientInfo,
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const answer = await client.request('server/discover', { _meta: meta });
    expectError(answer, '2099-01-01');
    expect(answer.error?.data).toMatchObject({ requested: '2099-01-01' });
    await client.initialize();
    await expectServing(client);
  });

  it('writes nothing but messages to stdout, whatever the log has to say', async () => {
    const client = loudClient();
    await client.initialize();
    await client.write('nonsense\n');
    await client.answer(null);
    expect((await client.request('prompts/get', { name: 'nope' })).error?.code).toBe(INVALID_PARAMS);
    await client.callTool({ operation: 'execute', agent: 'architect' });
    await expectServing(client);
    const log = client.stderr.trim().split('\n');
    expect(log.length).toBeGreaterThan(3);
    for (const line of log) expect(JSON.parse(line)).toHaveProperty('level');
  });
});
