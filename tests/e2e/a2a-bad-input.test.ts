import { afterAll, describe, expect, it } from 'vitest';
import { a2aPlace, type RpcAnswer } from '../support/a2a.ts';

const place = await a2aPlace(afterAll);
const server = await place.serve('--a2a-without-approval');

const call = (method: string, params: unknown): object => ({ jsonrpc: '2.0', id: 7, method, params });
const text = [{ text: 'Hello' }];
const sending = (more: object, method = 'SendMessage'): object =>
  call(method, { message: { messageId: 'm', role: 'ROLE_USER', parts: text, ...more } });
const older = (more: object): object =>
  call('message/send', {
    message: {
      kind: 'message',
      messageId: 'm',
      role: 'user',
      parts: [{ kind: 'text', text: 'Hi' }],
      ...more,
    },
  });
const deep = (levels: number): string =>
  `{"jsonrpc":"2.0","id":7,"method":"SendMessage","params":{"message":{"messageId":"m","parts":[{"data":${'['.repeat(levels)}${']'.repeat(levels)}}]}}}`;

const LATIN = Buffer.from('Café', 'latin1').toString('base64');

const CASES: [name: string, body: unknown, code: number, words: RegExp][] = [
  ['no JSON', '{', -32_700, /not JSON/],
  ['a batch', [call('GetTask', { id: 'x' })], -32_600, /Batches/],
  ['a word', '"hello"', -32_600, /JSON-RPC/],
  ['another protocol', { method: 'GetTask', id: 1 }, -32_600, /JSON-RPC/],
  ['an unknown method', call('DropTables', {}), -32_601, /method/i],
  ['an unknown older method', call('tasks/drop', {}), -32_601, /tasks\/drop/],
  ['a list of parameters', call('GetTask', ['x']), -32_600, /JSON-RPC/],
  ['no id of a task', call('GetTask', {}), -32_602, /task id is missing/],
  ['an id that is a number', call('GetTask', { id: 5 }), -32_602, /id/],
  ['a path for an id', call('tasks/get', { id: '../../../etc/passwd' }), -32_001, /Task not found/],
  ['no message', call('SendMessage', {}), -32_602, /message is missing/],
  ['no older message', call('message/stream', {}), -32_602, /message is missing/],
  ['a message without parts', sending({ parts: [] }), -32_602, /parts/],
  ['parts of no kind', sending({ parts: [{}] }), -32_602, /no text, data or file/],
  ['only blanks', sending({ parts: [{ text: ' \n ' }] }), -32_602, /no text/],
  ['text that is a number', sending({ parts: [{ text: 5 }] }), -32_602, /text/],
  ['an older part of no kind', older({ parts: [{ kind: 'video' }] }), -32_602, /kind/],
  ['a message that is null', call('message/send', { message: null }), -32_602, /message/],
  ['a skill that is a number', sending({ metadata: { skill: 5 } }), -32_602, /skill/],
  ['a skill that is not there', sending({ metadata: { skill: '__proto__' } }), -32_602, /__proto__/],
  ['an address of a file', sending({ parts: [{ url: 'file:///etc/passwd' }] }), -32_005, /not fetched/],
  [
    'an older file',
    older({ parts: [{ kind: 'file', file: { uri: 'http://x/y' } }] }),
    -32_005,
    /not fetched/,
  ],
  ['a picture', sending({ parts: [{ raw: 'AAAA', mediaType: 'image/png' }] }), -32_005, /not supported/],
  ['no base64', sending({ parts: [{ raw: 'Hello, world!', filename: 'a.txt' }] }), -32_602, /base64/],
  ['cut base64', sending({ parts: [{ raw: 'aGVsb', filename: 'a.txt' }] }), -32_602, /base64/],
  [
    'older bytes that are no base64',
    older({ parts: [{ kind: 'file', file: { bytes: '%%%', mimeType: 'text/plain' } }] }),
    -32_602,
    /base64/,
  ],
  ['text in Latin-1', sending({ parts: [{ raw: LATIN, mediaType: 'text/plain' }] }), -32_005, /UTF-8/],
  ['a file that is no text', sending({ parts: [{ raw: LATIN, filename: 'a' }] }), -32_005, /UTF-8/],
  [
    'text that says it is Latin-1',
    sending({ parts: [{ raw: 'w6k=', mediaType: 'text/plain; charset="ISO-8859-1"' }] }),
    -32_005,
    /not supported\. Send UTF-8 text/,
  ],
  ['a part of two kinds', sending({ parts: [{ text: 'x', url: 'http://x' }] }), -32_602, /text, url/],
  ['text and data in one', sending({ parts: [{ text: 'x', data: { a: 1 } }] }), -32_602, /text, data/],
  [
    'an older file in two places',
    older({ parts: [{ kind: 'file', file: { bytes: 'eA==', uri: 'http://x', mimeType: 'text/plain' } }] }),
    -32_602,
    /bytes, uri/,
  ],
  ['the role of the agent', sending({ role: 'ROLE_AGENT' }), -32_602, /role/],
  ['the older role of the agent', older({ role: 'agent' }), -32_602, /role/],
  ['a role nobody has', sending({ role: 'ROLE_KING' }), -32_602, /role/],
  ['a state there is not', call('ListTasks', { status: 'NOPE' }), -32_602, /status/],
  ['a number for a state', call('ListTasks', { status: 99 }), -32_602, /status/],
  ['much too long a text', sending({ parts: [{ text: 'x'.repeat(4_000_000) }] }), -32_602, /100000/],
  ['too long a text', sending({ parts: [{ text: 'x'.repeat(100_001) }] }), -32_602, /100000/],
  ['deep data', deep(1_000), -32_600, /levels/],
  ['very deep data', deep(200_000), -32_600, /levels/],
  ['a follow-up to no task', sending({ taskId: 'task-1' }), -32_001, /Task not found/],
  [
    'a callback',
    call('CreateTaskPushNotificationConfig', { taskId: 'x', url: 'http://x' }),
    -32_003,
    /Push notifications/,
  ],
  [
    'an older callback',
    call('tasks/pushNotificationConfig/get', { id: 'x' }),
    -32_003,
    /Push notifications are not supported/,
  ],
  ['a page of 0', call('ListTasks', { pageSize: 0 }), -32_602, /pageSize/],
  ['a wrong moment', call('ListTasks', { statusTimestampAfter: 'yesterday' }), -32_602, /Timestamp/],
];

describe('what cannot be', () => {
  it.each(CASES)('is refused in the words of the protocol: %s', async (_name, body, code, words) => {
    const { body: answer } = await server.post(body);
    expect(answer.error?.code, JSON.stringify(answer)).toBe(code);
    expect(answer.error?.message).toMatch(words);
    expect(JSON.stringify(answer)).not.toMatch(/incident|node_modules|\bat \w+ \(/);
  });

  it('is refused before it is read: other types, other versions, other pages', async () => {
    const get = call('GetTask', { id: 'task-1' });
    expect((await server.post(get, { 'content-type': 'text/plain' })).status).toBe(415);
    expect((await server.post(get, { origin: 'https://example.com' })).status).toBe(403);
    const version = await server.post(get, { 'a2a-version': '7.0' });
    expect(version.body.error).toMatchObject({ code: -32_009, message: expect.stringContaining('1.0, 0.3') });
    expect((await fetch(`${server.origin}/a2a`)).status).toBe(405);
  });

  it('leaves nothing in the queue', async () => {
    expect((await server.post(call('ListTasks', {}))).body.result).toMatchObject({ totalSize: 0 });
    expect((await place.cli('task', 'list', '--status', 'all'))['total']).toBe(0);
  });
});

describe('what looks strange but can be', () => {
  it('is kept as words: markup, files and data that are text, secrets masked', async () => {
    const parts = [
      { text: '<script>alert(1)</script> password: hunter2hunter2' },
      { data: { rows: [1, 2] } },
      { raw: Buffer.from('a,b\n1,2\n').toString('base64'), filename: '../../x.csv', mediaType: 'text/csv' },
    ];
    const skill = { skill: 'architect' };
    const { body } = await server.post(sending({ parts, metadata: skill, contextId: '../../ctx' }));
    const task = (body.result as { task: { id: string; contextId: string; history: unknown } }).task;
    expect(task.contextId).toBe('../../ctx');
    const said = JSON.stringify(task.history);
    expect(said).toContain('<script>alert(1)</script>');
    expect(said).toContain('1,2');
    expect(said).not.toContain('hunter2hunter2');
  });

  it('may be a hundred tasks, and then it is enough', async () => {
    const body = sending({ metadata: { skill: 'architect' } });
    const quick = {
      ...body,
      params: { ...(body as { params: object }).params, configuration: { returnImmediately: true } },
    };
    let last: RpcAnswer = {};
    for (let count = 0; count <= 100 && last.error === undefined; count += 1)
      last = (await server.post(quick)).body;
    expect(last.error).toMatchObject({ code: -32_603, message: expect.stringContaining('already open') });
  });
});
