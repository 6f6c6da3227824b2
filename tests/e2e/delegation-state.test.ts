import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client, CreateMessageRequestParams } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { textsOf } from '../support/mcp-client.ts';
import { GIVEN, kept, promptOf, said, servers, type Sampler, type Way } from '../support/sampling-client.ts';

const { project, connected } = await servers();

interface Asked {
  inputRequests: Record<string, { params?: CreateMessageRequestParams }>;
  requestState: string;
}

/** The server they share knows which questions were left unanswered, so each test asks one of its own. */
const taskOf = (): string => `${GIVEN.task} ${expect.getState().currentTestName ?? ''}`;

/** One round of the 2026 protocol by hand. */
async function round(client: Client, args: object, more: object = {}): Promise<Asked & { text: string }> {
  const result = await client.callTool(
    { name: 'delegate_to_agent', arguments: { ...GIVEN, task: taskOf(), ...args }, ...more },
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
      'The output key "queue" is already used by',
    );
    expect(await kept(cwd)).toEqual(before);
  });

  it('is all that another server needs to go on', async () => {
    const cwd = await project();
    const [here, there] = [
      await connected(way, { cwd, sample: never }),
      await connected(way, { cwd, sample: never, own: true }),
    ];
    const first = await round(here, { output_key: 'queue' });
    const second = await round(
      there,
      { output_key: 'queue' },
      { requestState: first.requestState, inputResponses: { [keyOf(first)]: said('DELEGATE pm: Budget?') } },
    );
    const third = await round(
      here,
      { output_key: 'queue' },
      { requestState: second.requestState, inputResponses: { [keyOf(second)]: said('Ten a month.') } },
    );
    const last = await round(
      there,
      { output_key: 'queue' },
      { requestState: third.requestState, inputResponses: { [keyOf(third)]: said('Then SQS.') } },
    );
    expect(last.text).toContain('```markdown\nThen SQS.\n```');
    expect((await kept(cwd)).filter((name) => name.endsWith('.result.md'))).toHaveLength(1);
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
    ['questions', ['--delegate-rounds', '3'], 3, 'the model was asked 3 times, the limit of one call'],
    ['tokens', ['--delegate-tokens', '6000'], 2, 'the next question would exceed the token limit'],
  ])('counts %s of other texts of a file too', async (_what, args, most, why) => {
    const cwd = await project();
    const client = await connected(way, { cwd, sample: never, args });
    let back = {};
    for (let asked = 0; ; asked += 1) {
      await writeFile(join(cwd, 'docs/prd.md'), `Text ${asked} of the file.\n`);
      const told = await round(client, { context: '@docs/prd.md', max_tokens: 2_048 }, back);
      if (told.text !== '') {
        expect(asked).toBe(most);
        expect(told.text).toContain(`NOT EXECUTED: ${why}`);
        break;
      }
      expect(asked).toBeLessThan(10);
      back = { requestState: told.requestState, inputResponses: { [keyOf(told)]: said('SQS.') } };
    }
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
