import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../support/app.ts';
import { errorText, expectError, expectServing } from '../support/error-answers.ts';
import { type Lines, linesHere } from '../support/line-client.ts';

const INVALID_PARAMS = -32_602;
const LONG = 'x'.repeat(100_000);

const cwd = await temporaryFolder(afterAll);
const home = await temporaryFolder(afterAll);

let client: Lines;
beforeAll(async () => {
  client = linesHere({ cwd, home });
  await client.initialize();
  return () => client.close();
});
afterEach(() => expectServing(client));

/** Requests that must fail, each with what the error has to name. */
const REQUESTS: [method: string, params: unknown, names: string[]][] = [
  ['tools/list', { cursor: 42 }, ['cursor', '42']],
  ['tools/call', undefined, ['params']],
  ['tools/call', {}, ['name']],
  ['tools/call', { name: 42 }, ['name', 'number']],
  ['tools/call', { name: null }, ['name', 'null']],
  ['tools/call', { name: 'bmad', arguments: 'text' }, ['arguments', 'string']],
  ['tools/call', { name: 'bmad', arguments: [] }, ['arguments', 'array']],
  ['tools/call', { name: 'bmda', arguments: {} }, ['"bmda"', 'bmad']],
  ['tools/call', { name: LONG }, ['"xxx']],
  ['prompts/list', { cursor: {} }, ['cursor']],
  ['prompts/list', { cursor: 'bogus' }, ['cursor']],
  ['prompts/get', undefined, ['name']],
  ['prompts/get', { name: 42 }, ['name', '42']],
  ['prompts/get', { name: '' }, ['"name"', 'empty']],
  ['prompts/get', { name: LONG }, ['"name"', 'at most']],
  ['prompts/get', { name: 'bmad-architect', arguments: { message: 42 } }, ['message', '42']],
  ['prompts/get', { name: 'bmad-architect', arguments: 'text' }, ['arguments', '"text"']],
  ['prompts/get', { name: '__proto__' }, ['"__proto__"']],
  ['skills/list', { cursor: 42 }, ['cursor', '42']],
  ['skills/list', { cursor: 'bogus' }, ['cursor']],
  ['skills/get', {}, ['uri', 'missing']],
  ['skills/get', { uri: 42 }, ['uri', '42']],
  ['skills/get', { uri: LONG }, ['uri', 'at most']],
  ['skills/get', { uri: 'bmad://core/config.yaml' }, ['bmad']],
  ['resources/directory/read', { uri: 'skill://bmm/bmad-prd/SKILL.md' }, ['folder']],
  ['resources/directory/read', { uri: 'skill://bmm/bmad-prd', cursor: 'bogus' }, ['cursor']],
  ['resources/subscribe', {}, ['uri', 'missing']],
  ['resources/subscribe', { uri: 'bmad://nothing/here.md' }, ['nothing/here.md']],
  ['resources/subscribe', { uri: 'file:///etc/passwd' }, ['file']],
  ['resources/unsubscribe', { uri: null }, ['uri']],
  ['resources/list', { cursor: LONG }, ['cursor', 'at most']],
  ['resources/read', {}, ['uri', 'missing']],
  ['resources/read', { uri: 42 }, ['uri', '42']],
  ['resources/read', { uri: ['bmad://LICENSE'] }, ['uri', 'a list']],
  ['resources/read', { uri: LONG }, []],
  ['resources/read', { uri: 'http://example.com/' }, ['"http://example.com/"', 'bmad://']],
  ['completion/complete', { ref: { type: 'ref/nope' }, argument: { name: 'a', value: '' } }, ['ref/nope']],
  [
    'completion/complete',
    { ref: { type: 'ref/prompt', name: 'nope' }, argument: { name: 'message', value: '' } },
    ['"nope"'],
  ],
  ['completion/complete', { ref: { type: 'ref/prompt', name: 'bmad-pm' } }, ['argument']],
];

/** Arguments of the tool that must fail, each with what the error has to name. */
const CALLS: [args: unknown, names: string[]][] = [
  [{}, ['"operation"']],
  [{ operation: 'lst' }, ['"operation"', '"lst"', 'list']],
  [{ operation: null }, ['"operation"', 'missing']],
  [{ operation: 'list', bogus: 1 }, ['"bogus"', 'Arguments:']],
  [{ operation: 'execute', agent: 42 }, ['"agent"', '42']],
  [{ operation: 'execute', agent: null }, ['needs "agent"']],
  [{ operation: 'execute', agent: ['architect'] }, ['"agent"', 'a list']],
  [{ operation: 'execute', agent: { name: 'architect' } }, ['"agent"', 'an object']],
  [{ operation: 'execute', agent: true }, ['"agent"', 'true']],
  [{ operation: 'execute', agent: '' }, ['needs "agent"']],
  [{ operation: 'execute', agent: ' ' }, ['" "']],
  [{ operation: 'execute', agent: '*' }, ['"*"']],
  [{ operation: 'execute', agent: LONG }, ['"agent"', 'at most']],
  [{ operation: 'execute', agent: '__proto__' }, ['"__proto__"']],
  [{ operation: 'execute', agent: 'archit\u0000ect' }, ['"archit\\u0000ect"']],
  [{ operation: 'execute', agent: 'architct' }, ['"architct"', 'Did you mean: architect']],
  [{ operation: 'execute', agent: 'prd' }, ['"prd"']],
  [{ operation: 'execute', workflow: 'brainstormin' }, ['"brainstormin"', 'Did you mean: brainstorming']],
  [{ operation: 'execute', agent: 'bmx/architect' }, ['"bmx"', 'bmm']],
  [{ operation: 'execute', agent: 'architect', workflow: 'prd' }, ['"agent"', '"workflow"']],
  [{ operation: 'execute', agent: 'architect', limit: 500 }, ['"limit"', '500']],
  [{ operation: 'execute', agent: 'architect', cursor: 'bogus' }, ['cursor']],
  [{ operation: 'execute', agent: 'architect', project: '/does/not/exist' }, ['"/does/not/exist"']],
  [{ operation: 'execute', agent: 'architect', project: home }, [`"${home}"`]],
  [{ operation: 'execute', agent: 'architect', project: '/' }, ['"/"']],
  [{ operation: 'read' }, ['"agent"', '"uri"']],
  [{ operation: 'read', agent: 'architect', section: 'Nowhere' }, ['"Nowhere"']],
  [{ operation: 'list', query: 'gadgets' }, ['"gadgets"', 'agents']],
  [{ operation: 'list', query: 'agents', limit: 0 }, ['"limit"', '0']],
  [{ operation: 'list', query: 'agents', limit: 1.5 }, ['"limit"', '1.5']],
  [{ operation: 'list', query: 'agents', limit: 'five' }, ['"limit"', '"five"']],
  [{ operation: 'list', query: 'workflows', category: 'nowhere' }, ['"nowhere"', 'plan']],
  [{ operation: 'list', query: 'agents', module: 'nope' }, ['"nope"', 'bmm']],
  [{ operation: 'list', query: 'agents', detail: 'more' }, ['"detail"', '"more"']],
  [{ operation: 'search', query: '' }, ['"query"']],
  [{ operation: 'search' }, ['"query"', 'missing']],
  [{ command: '' }, ['command']],
  [{ command: 42 }, ['"command"', '42']],
  [{ command: 'architct' }, ['"architct"', 'architect']],
];

const short = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, 70);

describe('parameters of the wrong kind', () => {
  it.each(REQUESTS.map(([method, params, names]) => ({ title: short(params), method, params, names })))(
    '$method with $title',
    async ({ method, params, names }) => {
      const answer = await client.request(method, params);
      expect(answer.error?.code).toBe(INVALID_PARAMS);
      expectError(answer, ...names);
    },
  );

  it('are named in few words even when thousands of them are wrong', async () => {
    const args = Object.fromEntries(Array.from({ length: 5_000 }, (_value, index) => [`key${index}`, index]));
    const prompt = await client.request('prompts/get', { name: 'bmad-pm', arguments: args });
    expect(prompt.error?.code).toBe(INVALID_PARAMS);
    expectError(prompt, 'key0');
    const tool = await client.callTool(args);
    expect(errorText(tool)).toContain('"key0"');
    expectError(tool);
  });
});

describe('arguments the tool cannot use', () => {
  it.each(CALLS.map(([args, names]) => ({ title: short(args), args, names })))(
    '$title',
    async ({ args, names }) => {
      const answer = await client.callTool(args);
      expect(answer.result).toHaveProperty('isError', true);
      expectError(answer, ...names);
    },
  );

  it('takes no argument from a prototype', async () => {
    await client.write(
      '{"jsonrpc":"2.0","id":"proto","method":"tools/call","params":{"name":"bmad","arguments":{"__proto__":{"operation":"list"}}}}\n',
    );
    const answer = await client.answer('proto');
    expect(answer.result).toHaveProperty('isError', true);
    expectError(answer);
  });
});
