import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CreateMessageRequestParams, CreateMessageResult } from '@modelcontextprotocol/client';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { INITIALIZE, LineClient } from '../support/line-client.ts';
import {
  delegate,
  GIVEN,
  kept,
  promptOf,
  said,
  servers,
  WAYS,
  type Sampler,
} from '../support/sampling-client.ts';
import { isDeep } from '../support/how-much.ts';

const { home, project, connected } = await servers();

const LIMITS = ['--delegate-depth', '5', '--delegate-rounds', '4'];

/** Each era and each way to come in; a long trial has all four of them. */
describe.each(isDeep ? WAYS : [WAYS[0], WAYS[3]])('a client of $era over $transport', (way) => {
  /** What hangs on neither the era nor the way to come in. */
  const inFull = isDeep || way === WAYS[0];

  it('whose model answers gets the answer of the agent, kept where asked for', async () => {
    const cwd = await project();
    const questions: CreateMessageRequestParams[] = [];
    const sample: Sampler = (params) => {
      questions.push(params);
      return said('SQS will do.');
    };
    const client = await connected(way, { cwd, sample });
    const answer = await delegate(client, { context: '@docs/prd.md', max_tokens: 500, output_key: 'queue' });
    expect(answer).toContain("Answer from Winston (architect), written by the client's model (test-model).");
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
    const client = await connected(way, { cwd, sample, args: LIMITS });
    const answer = await delegate(client);
    expect(asked).toEqual(['Winston', 'John', 'John again', 'Winston again']);
    expect(answer).toContain('Winston is done.');
    expect(answer).toContain('A loop was stopped');
  });

  it.runIf(inFull)('whose model asks for ever is stopped at the limits', async () => {
    const cwd = await project();
    let count = 0;
    const sample: Sampler = () =>
      said(`DELEGATE pm: Question ${(count += 1)}\nDELEGATE dev: Question ${count}`);
    const client = await connected(way, { cwd, sample, args: LIMITS });
    const answer = await delegate(client);
    expect(count).toBe(4);
    expect(answer).toContain('the model was asked 4 times, the limit of one call');
    expect(answer).toContain('4 questions to the model');
  });

  it.runIf(inFull)('whose model answers with no text, or with nothing, gets the brief', async () => {
    const cwd = await project();
    const answers = [
      said('', { content: { type: 'image', data: 'aGk=', mimeType: 'image/png' } }),
      said('  \n'),
    ];
    const client = await connected(way, { cwd, sample: () => answers.shift() ?? said('x') });
    const first = await delegate(client, { output_key: 'queue' });
    expect(first).toContain('NOT EXECUTED: the client’s answer is not text.');
    expect(first).toContain('# Brief for Winston');
    expect(await delegate(client, { task: 'Another' })).toContain(
      "NOT EXECUTED: the model's answer is empty.",
    );
    expect(await kept(cwd)).toEqual([]);
  });

  it.runIf(inFull)('whose model writes far too much gets the beginning', async () => {
    const client = await connected(way, {
      cwd: await project(),
      sample: () => said('word '.repeat(100_000)),
    });
    const answer = await delegate(client, { max_tokens: 100 });
    expect(answer.length).toBeLessThan(2_000);
    expect(answer).toContain('was cut: it exceeded its token limit');
  });

  it.runIf(inFull)('whose answer was cut by its own limit is told so', async () => {
    const client = await connected(way, {
      cwd: await project(),
      sample: () => said('Half a', { stopReason: 'maxTokens' }),
    });
    expect(await delegate(client)).toContain('The answer from architect stops early: it used up its tokens.');
  });

  it.runIf(inFull)('that is late gets the brief', async () => {
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

  it.runIf(inFull)('without a model gets the brief', async () => {
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
      // Of a question that was left unanswered the server knows, so no other test asks it.
      { name: 'delegate_to_agent', arguments: { ...GIVEN, task: 'Which cache?', output_key: 'queue' } },
      { signal: control.signal },
    );
    await expect(call).rejects.toThrow(/abort|left/i);
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
        own: true,
        sample: () => {
          throw new Error('secret words of the client');
        },
      },
    );
    const answer = await delegate(client, { output_key: 'queue' });
    expect(answer).toContain('NOT EXECUTED: the client refused or could not ask its model.');
    expect(answer).not.toContain('secret words');
    expect(await kept(cwd)).toEqual([]);
  },
);

/** A client of 2025 with a model, whose answers a test writes itself. */
async function lineClient(protocolVersion: string): Promise<LineClient> {
  const client = new LineClient({ cwd: await project(), home });
  await client.request('initialize', { ...INITIALIZE, protocolVersion, capabilities: { sampling: {} } });
  await client.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  return client;
}

describe('a client of 2025', () => {
  let client: LineClient;
  beforeAll(async () => {
    client = await lineClient(INITIALIZE.protocolVersion);
    return async () => void (await client.close());
  });

  it.each([
    ['an answer without its parts', { result: { role: 'assistant' } }],
    ['an answer of another kind', { result: { action: 'accept', content: {} } }],
    ['a number', { result: 7 }],
  ])('whose answer is %s gets the brief', async (what, response) => {
    await project();
    const call = client.request('tools/call', {
      name: 'delegate_to_agent',
      arguments: { ...GIVEN, task: what, output_key: 'queue' },
    });
    const { id } = await client.asked('sampling/createMessage');
    // One that is no answer at all is passed over; the time that an answer may take ends it.
    await client.send({ jsonrpc: '2.0', id, ...response });
    if (typeof response.result === 'number')
      await client.send({ jsonrpc: '2.0', id, error: { code: -1, message: 'secret words' } });
    const text = JSON.stringify((await call).result);
    expect(text).toMatch(/NOT EXECUTED: (?:the client’s answer cannot be read|the client refused)/);
    expect(text).not.toContain('secret words');
  });
});

const PARTS = [
  { type: 'text', text: 'First SQS.' },
  { type: 'text', text: 'Then Kafka.' },
];

it.each(['stdio', 'HTTP'] as const)(
  'a client of 2026 over %s whose answer comes in parts gets all of it',
  async (transport) => {
    const sample: Sampler = () => ({ ...said(''), content: PARTS }) as unknown as CreateMessageResult;
    const client = await connected({ era: '2026', transport }, { cwd: await project(), sample });
    expect(await delegate(client)).toContain('```markdown\nFirst SQS.\n\nThen Kafka.\n```');
  },
);

it('a client of 2025 whose answer comes in parts gets all of it', async () => {
  const client = await lineClient('2025-11-25');
  onTestFinished(async () => void (await client.close()));
  const call = client.request('tools/call', { name: 'delegate_to_agent', arguments: GIVEN });
  const { id } = await client.asked('sampling/createMessage');
  await client.send({ jsonrpc: '2.0', id, result: { role: 'assistant', model: 'm', content: PARTS } });
  expect(JSON.stringify((await call).result)).toContain(String.raw`First SQS.\n\nThen Kafka.`);
});

it('a client of 2026 that gave up after a question gets the brief next, and is asked again after that', async () => {
  const cwd = await project();
  let refuses = true;
  const sample: Sampler = () => {
    if (refuses) throw new Error('The user does not want that.');
    return said('SQS.');
  };
  const client = await connected({ era: '2026', transport: 'stdio' }, { cwd, sample, own: true });
  await expect(delegate(client)).rejects.toThrow('The user does not want that.');
  refuses = false;
  const left = await delegate(client);
  expect(left).toContain('NOT EXECUTED: the client was already asked and did not return an answer');
  expect(left).not.toContain('The model was asked');
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
