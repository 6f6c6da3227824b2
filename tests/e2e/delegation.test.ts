import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  StreamableHTTPClientTransport,
  type Client,
  type CreateMessageRequestParams,
  type CreateMessageResult,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { serverFile, temporaryFolder } from '../support/app.ts';
import { writeFiles } from '../support/folders.ts';
import { startHttpServer } from '../support/http-server.ts';
import { connectClient, newClient, textsOf } from '../support/mcp-client.ts';

const MODERN: VersionNegotiationMode = { pin: '2026-07-28' };
const WAYS = [
  { era: '2025', transport: 'stdio' },
  { era: '2026', transport: 'stdio' },
  { era: '2025', transport: 'HTTP' },
  { era: '2026', transport: 'HTTP' },
] as const;
type Way = (typeof WAYS)[number];

type Sampler = (params: CreateMessageRequestParams) => CreateMessageResult | Promise<CreateMessageResult>;

const home = await temporaryFolder(afterAll);

async function project(): Promise<string> {
  const cwd = await temporaryFolder(onTestFinished);
  await writeFiles(cwd, {
    '_bmad/core/config.yaml': 'user_name: Ada\n',
    'docs/prd.md': 'The shop sells bread.\n',
  });
  return cwd;
}

interface Setting {
  cwd: string;
  sample?: Sampler;
  args?: readonly string[];
}

async function connected({ era, transport }: Way, { cwd, sample, args = [] }: Setting): Promise<Client> {
  const mode = era === '2025' ? 'legacy' : MODERN;
  if (transport === 'stdio') {
    const client = await connectClient({
      cwd,
      home,
      mode,
      args,
      ...(sample === undefined ? {} : { sample }),
    });
    onTestFinished(() => client.close());
    return client;
  }
  const server = await startHttpServer({ cwd, home, args: [serverFile, '--http', '--port', '0', ...args] });
  onTestFinished(async () => void (await server.stop()));
  const client = newClient({ mode, sample });
  await client.connect(new StreamableHTTPClientTransport(new URL(server.url)));
  onTestFinished(() => client.close());
  return client;
}

const said = (text: string, more: object = {}): CreateMessageResult => ({
  role: 'assistant',
  model: 'test-model',
  content: { type: 'text', text },
  ...more,
});

const promptOf = ({ messages }: CreateMessageRequestParams): string =>
  (messages[0]?.content as { text: string } | undefined)?.text ?? '';

const GIVEN = { agent_id: 'architect', task: 'Which queue fits a small shop?' };

async function delegate(client: Client, more: object = {}): Promise<string> {
  const result = await client.callTool({ name: 'delegate_to_agent', arguments: { ...GIVEN, ...more } });
  return textsOf(result).join('\n');
}

/** The names of what is kept in the queue; nothing was written where there is none. */
async function kept(cwd: string): Promise<string[]> {
  return readdir(join(cwd, '_bmad-output/.tasks')).catch(() => []);
}

describe.each(WAYS)('a client of $era over $transport', (way) => {
  it('whose model answers gets the answer of the agent, kept where asked for', async () => {
    const cwd = await project();
    const questions: CreateMessageRequestParams[] = [];
    const sample: Sampler = (params) => {
      questions.push(params);
      return said('SQS will do.');
    };
    const client = await connected(way, { cwd, sample });
    const answer = await delegate(client, { context: '@docs/prd.md', max_tokens: 500, output_key: 'queue' });
    expect(answer).toContain(
      'Answer of Winston (architect), written by the model of the client (test-model).',
    );
    expect(answer).toContain('```markdown\nSQS will do.\n```');
    expect(questions).toHaveLength(1);
    expect(questions[0]?.systemPrompt).toContain('You are Winston');
    expect(questions[0]?.maxTokens).toBe(500);
    expect(promptOf(questions[0] as CreateMessageRequestParams)).toContain('The shop sells bread.');
    const names = await kept(cwd);
    expect(names.filter((name) => name.endsWith('.result.md'))).toHaveLength(1);
    const result = names.find((name) => name.endsWith('.result.md')) ?? '';
    expect(await readFile(join(cwd, '_bmad-output/.tasks', result), 'utf8')).toBe('SQS will do.');
  });

  it('whose model asks for another agent gets the answer of both, kept once', async () => {
    const cwd = await project();
    const asked: string[] = [];
    const sample: Sampler = (params) => {
      const isFirst = (params.systemPrompt ?? '').startsWith('You are Winston');
      asked.push(isFirst ? 'architect' : 'pm');
      if (!isFirst) return said('Ten a month.');
      return said(
        promptOf(params).includes('Ten a month.') ? 'Then SQS.' : 'DELEGATE pm: What is the budget?',
      );
    };
    const client = await connected(way, { cwd, sample });
    const answer = await delegate(client, { output_key: 'queue' });
    expect(answer).toContain('```markdown\nThen SQS.\n```');
    expect(answer).toContain('3 questions to the model');
    expect(answer).toContain('Consulted: pm.');
    expect(asked).toEqual(['architect', 'pm', 'architect']);
    expect((await kept(cwd)).filter((name) => name.endsWith('.result.md'))).toHaveLength(1);
  });

  it('whose model asks in circles is stopped', async () => {
    const cwd = await project();
    const asked: string[] = [];
    const sample: Sampler = (params) => {
      const name = /^You are (\w+)/.exec(params.systemPrompt ?? '')?.[1] ?? '';
      const before = promptOf(params).includes('# What you have written so far');
      asked.push(`${name}${before ? ' again' : ''}`);
      if (before) return said(`${name} is done.`);
      return said(
        name === 'Winston' ? 'DELEGATE pm: Say it' : `DELEGATE architect: ${GIVEN.task.toUpperCase()}`,
      );
    };
    const client = await connected(way, { cwd, sample, args: ['--delegate-depth', '5'] });
    const answer = await delegate(client);
    expect(asked).toEqual(['Winston', 'John', 'John again', 'Winston again']);
    expect(answer).toContain('Winston is done.');
    expect(answer).toContain('A loop was stopped');
  });

  it('whose model asks for ever is stopped at the limits', async () => {
    const cwd = await project();
    let count = 0;
    const sample: Sampler = () =>
      said(`DELEGATE pm: Question ${(count += 1)}\nDELEGATE dev: Question ${count}`);
    const client = await connected(way, {
      cwd,
      sample,
      args: ['--delegate-depth', '5', '--delegate-rounds', '4'],
    });
    const answer = await delegate(client);
    expect(count).toBe(4);
    expect(answer).toContain('the model was asked 4 times, the limit of one call');
    expect(answer).toContain('4 questions to the model');
  });

  it('whose model answers with no text, or with nothing, gets the brief', async () => {
    const cwd = await project();
    const answers = [
      said('', { content: { type: 'image', data: 'aGk=', mimeType: 'image/png' } }),
      said('  \n'),
    ];
    const client = await connected(way, { cwd, sample: () => answers.shift() ?? said('x') });
    const first = await delegate(client, { output_key: 'queue' });
    expect(first).toContain('NOT EXECUTED: the answer of the client is no text.');
    expect(first).toContain('# Brief for Winston');
    expect(await delegate(client, { task: 'Another' })).toContain(
      'NOT EXECUTED: the answer of the model is empty.',
    );
    expect(await kept(cwd)).toEqual([]);
  });

  it('whose model writes far too much gets the beginning', async () => {
    const client = await connected(way, {
      cwd: await project(),
      sample: () => said('word '.repeat(100_000)),
    });
    const answer = await delegate(client, { max_tokens: 100 });
    expect(answer.length).toBeLessThan(2_000);
    expect(answer).toContain('was cut: it did not keep to its tokens');
  });

  it('whose answer was cut by its own limit is told so', async () => {
    const client = await connected(way, {
      cwd: await project(),
      sample: () => said('Half a', { stopReason: 'maxTokens' }),
    });
    expect(await delegate(client)).toContain('The answer of architect ends where its tokens did.');
  });

  it('that is late gets the brief', async () => {
    const sample: Sampler = () => new Promise((resolve) => setTimeout(() => resolve(said('Too late.')), 150));
    const client = await connected(way, {
      cwd: await project(),
      sample,
      args: ['--delegate-seconds', '0.05'],
    });
    const text = await delegate(client);
    expect(text).toMatch(/NOT EXECUTED: the (?:client did not answer in time|answer came too late)\./);
    expect(text).not.toContain('Too late.');
  });

  it('without a model gets the brief', async () => {
    const cwd = await project();
    const client = await connected(way, { cwd });
    const answer = await delegate(client, { output_key: 'queue' });
    expect(answer).toContain('NOT EXECUTED: the client offers no model to ask (no sampling).');
    expect(answer).toContain('You are Winston');
    expect(await kept(cwd)).toEqual([]);
  });

  it('can leave while its model thinks; nothing is written, and the next call works', async () => {
    const cwd = await project();
    const control = new AbortController();
    let calls = 0;
    const sample: Sampler = () => {
      calls += 1;
      if (calls > 1) return said('SQS.');
      control.abort();
      // The client of 2026 waits for its own model itself; that of 2025 is waited for by the server.
      if (way.era === '2026') throw new Error('The user has left.');
      return new Promise(() => undefined);
    };
    const client = await connected(way, { cwd, sample });
    const call = client.callTool(
      { name: 'delegate_to_agent', arguments: { ...GIVEN, output_key: 'queue' } },
      { signal: control.signal },
    );
    await expect(call).rejects.toThrow();
    expect(await delegate(client, { task: 'Another' })).toContain('SQS.');
    expect(await kept(cwd)).toEqual([]);
  });
});

it.each(['stdio', 'HTTP'] as const)(
  'a client of 2025 over %s that refuses gets the brief',
  async (transport) => {
    const cwd = await project();
    const client = await connected(
      { era: '2025', transport },
      {
        cwd,
        sample: () => {
          throw new Error('secret words of the client');
        },
      },
    );
    const answer = await delegate(client, { output_key: 'queue' });
    expect(answer).toContain('NOT EXECUTED: the client refused, or could not ask its model.');
    expect(answer).not.toContain('secret words');
    expect(await kept(cwd)).toEqual([]);
  },
);

it('a client of 2026 that gave up after a question gets the brief next, and is asked again after that', async () => {
  const cwd = await project();
  let refuses = true;
  const sample: Sampler = () => {
    if (refuses) throw new Error('The user does not want that.');
    return said('SQS.');
  };
  const client = await connected({ era: '2026', transport: 'stdio' }, { cwd, sample });
  await expect(delegate(client)).rejects.toThrow('The user does not want that.');
  refuses = false;
  expect(await delegate(client)).toContain('NOT EXECUTED: the client was asked before and did not come back');
  expect(await delegate(client)).toContain('```markdown\nSQS.\n```');
});

it('tells a client of 2025 what it waits for', async () => {
  const client = await connected(
    { era: '2025', transport: 'stdio' },
    { cwd: await project(), sample: () => heard.then(() => said('SQS.')) },
  );
  const messages: (string | undefined)[] = [];
  let hear: () => void = () => undefined;
  const heard = new Promise<void>((resolve) => (hear = resolve));
  await client.callTool(
    { name: 'delegate_to_agent', arguments: GIVEN },
    {
      onprogress({ message }) {
        messages.push(message);
        hear();
      },
    },
  );
  expect(messages).toEqual(['Asking Winston (architect), question 1 of at most 8']);
});

interface Asked {
  inputRequests: Record<string, { params?: CreateMessageRequestParams }>;
  requestState: string;
}

/** One round of the 2026 protocol by hand. */
async function round(client: Client, args: object, more: object = {}): Promise<Asked & { text: string }> {
  const result = await client.callTool(
    { name: 'delegate_to_agent', arguments: { ...GIVEN, ...args }, ...more } as never,
    { allowInputRequired: true },
  );
  const asked = result as unknown as Partial<Asked>;
  return {
    inputRequests: asked.inputRequests ?? {},
    requestState: asked.requestState ?? '',
    text: asked.inputRequests === undefined ? textsOf(result).join('\n') : '',
  };
}

describe('the state that a client of 2026 carries', () => {
  const way: Way = { era: '2026', transport: 'stdio' };
  const never: Sampler = () => new Promise(() => undefined);
  const keyOf = ({ inputRequests }: Asked): string => Object.keys(inputRequests)[0] ?? '';

  it('makes no second result when it is replayed', async () => {
    const cwd = await project();
    const client = await connected(way, { cwd, sample: never });
    const asked = await round(client, { output_key: 'queue' });
    const back = { requestState: asked.requestState, inputResponses: { [keyOf(asked)]: said('SQS.') } };
    expect((await round(client, { output_key: 'queue' }, back)).text).toContain('Kept as queue');
    const before = await kept(cwd);
    expect((await round(client, { output_key: 'queue' }, back)).text).toContain(
      'The output key "queue" is that of',
    );
    expect(await kept(cwd)).toEqual(before);
  });

  it('is worth nothing in a call about something else', async () => {
    const client = await connected(way, { cwd: await project(), sample: never });
    const asked = await round(client, {});
    const other = await round(
      client,
      { task: 'Another' },
      { requestState: asked.requestState, inputResponses: { [keyOf(asked)]: said('SQS.') } },
    );
    expect(other.text).toBe('');
    expect(keyOf(other)).not.toBe(keyOf(asked));
  });

  it('cannot say how deep it is: the server counts anew', async () => {
    const client = await connected(way, { cwd: await project(), sample: never });
    const first = await round(client, {});
    const second = await round(
      client,
      {},
      { requestState: first.requestState, inputResponses: { [keyOf(first)]: said('DELEGATE pm: Budget?') } },
    );
    const state = JSON.parse(second.requestState) as Record<string, unknown>;
    const forged = JSON.stringify({ ...state, depth: -5, rounds: -5, limits: { depth: 99 } });
    const third = await round(
      client,
      {},
      { requestState: forged, inputResponses: { [keyOf(second)]: said('DELEGATE dev: And you?') } },
    );
    // Level 2 is the last: its line is no request, and the first agent is asked to finish.
    const prompt = third.inputRequests[keyOf(third)]?.params as CreateMessageRequestParams;
    expect(prompt.systemPrompt).toContain('You are Winston');
    expect(promptOf(prompt)).toContain('DELEGATE dev: And you?');
  });

  it.each([
    ['no JSON', '{'],
    ['another shape', '{"asked":[],"answers":7}'],
    ['far too much', JSON.stringify({ asked: {}, answers: { x: { text: 'x'.repeat(300_000) } } })],
  ])('that is %s counts as none', async (_what, requestState) => {
    const client = await connected(way, { cwd: await project(), sample: never });
    const asked = await round(client, {}, { requestState });
    expect(keyOf(asked)).toMatch(/^ask-/);
  });

  it.each([
    ['no answer', {}],
    ['an answer of another kind', { action: 'accept', content: {} }],
    ['an answer without its parts', { role: 'assistant' }],
  ])('brought back with %s gives the brief', async (_what, response) => {
    const client = await connected(way, { cwd: await project(), sample: never });
    const asked = await round(client, {});
    const inputResponses = Object.keys(response).length === 0 ? {} : { [keyOf(asked)]: response };
    const { text } = await round(client, {}, { requestState: asked.requestState, inputResponses });
    expect(text).toContain('NOT EXECUTED: the client did not answer.');
  });
});
