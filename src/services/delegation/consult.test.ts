import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { estimateTokens } from '../../base/text/text-budget.ts';
import type { Sampled, SampleRequest } from '../../model/client.ts';
import { consult, type DelegationLimits, type Consultation } from './delegation.ts';
import type { Person } from './prompts.ts';
import { cases } from '../../../tests/support/how-much.ts';

const LIMITS: DelegationLimits = { depth: 3, rounds: 20, tokens: 60_000, answerTokens: 2_000, timeMs: 1_000 };
const NAMES = ['a', 'b', 'c', 'd'];

const person = (handle: string): Person => ({
  handle,
  name: `Person ${handle}`,
  title: '',
  parts: [{ title: 'Role', text: `The trade of ${handle}.` }],
  elsewhere: [],
});

interface Asked extends SampleRequest {
  /** Who is asked, and whether it is to bring answers together. */
  who: string;
  isLast: boolean;
}

async function run(
  says: (asked: Asked) => Sampled | string,
  limits: Partial<DelegationLimits> = {},
  task = 'Do it',
): Promise<Consultation & { asked: Asked[] }> {
  const asked: Asked[] = [];
  const outcome = await consult(
    { person: person('a'), task, context: [], maxTokens: 500 },
    { ...LIMITS, ...limits },
    {
      async sample(request) {
        const who = /^You are Person (\w)/.exec(request.system ?? '')?.[1] ?? '';
        const each = { ...request, who, isLast: request.prompt.includes('# What you have written so far') };
        asked.push(each);
        const said = says(each);
        return Promise.resolve(typeof said === 'string' ? { text: said } : said);
      },
      find: async (name) =>
        Promise.resolve(NAMES.includes(name) ? person(name) : { why: `there is no ${name}` }),
      agents: NAMES,
      safe: (text) => text,
      signal: new AbortController().signal,
    },
  );
  return { ...outcome, asked };
}

const order = ({ asked }: { asked: Asked[] }): string[] =>
  asked.map(({ who, isLast }) => `${who}${isLast ? '!' : ''}`);

describe('consult', () => {
  it('lets agents delegate down to the limit and not below', async () => {
    const below: Record<string, string> = { a: 'b', b: 'c', c: 'd' };
    const told = await run(({ who, isLast }) =>
      isLast ? `${who} done` : `DELEGATE ${below[who] ?? 'a'}: for ${who}`,
    );
    expect(order(told)).toEqual(['a', 'b', 'c', 'b!', 'a!']);
    expect(told.answer).toBe('a done');
    expect(told.consulted.map(({ agent, depth }) => [agent, depth])).toEqual([
      ['a', 1],
      ['b', 2],
      ['c', 3],
    ]);
    expect(told.notes).toEqual(['c wanted to delegate; the limit of 3 levels was reached.']);
    expect(told.asked.find(({ who }) => who === 'c')?.system).not.toContain('DELEGATE');
  });

  it('stops a loop, however the task is written', async () => {
    const told = await run(
      ({ who, isLast }) =>
        isLast ? `${who} done` : who === 'a' ? 'DELEGATE b: Help' : 'DELEGATE a:  plan, the SHOP! ',
      { depth: 5 },
      'Plan the shop',
    );
    expect(order(told)).toEqual(['a', 'b', 'b!', 'a!']);
    expect(told.consulted.at(-1)).toMatchObject({
      agent: 'a',
      depth: 3,
      why: expect.stringContaining('loop') as string,
    });
    expect(told.asked[2]?.prompt).toContain('No answer: it is already being asked this, a loop.');
  });

  it('asks the same of the same agent once', async () => {
    const told = await run(({ who, isLast }) =>
      isLast || who !== 'a' ? who : 'DELEGATE b: x\nDELEGATE b: X.\n',
    );
    expect(order(told)).toEqual(['a', 'b', 'a!']);
  });

  it('asks three others at most', async () => {
    const told = await run(({ who, isLast }) =>
      isLast || who !== 'a'
        ? who
        : ['b', 'c', 'd', 'b'].map((name, at) => `DELEGATE ${name}: ${at}`).join('\n'),
    );
    expect(order(told)).toEqual(['a', 'b', 'c', 'd', 'a!']);
    expect(told.notes).toEqual(['a wanted to ask 4 other agents; 3 were asked.']);
  });

  it('gives what it has when the rounds are used up', async () => {
    const told = await run(({ who }) => (who === 'a' ? 'Draft.\nDELEGATE b: x' : 'From below.'), {
      rounds: 2,
    });
    expect(told.answer).toBe('Draft.\nDELEGATE b: x\n\n## From b\n\nFrom below.');
    expect(told.notes[0]).toContain('the model was asked 2 times, the limit of one call');
  });

  it('gives what it has when the client does not answer any more, and leaves it alone', async () => {
    const told = await run(({ who }) =>
      who === 'a' ? 'Draft.\nDELEGATE b: x\nDELEGATE c: y' : { why: 'refused' },
    );
    expect(order(told)).toEqual(['a', 'b']);
    expect(told.answer).toContain('Draft.');
    expect(told.consulted.slice(1).map(({ why }) => why)).toEqual(['refused', 'refused']);
  });

  it('goes on when one of the others has nothing to say', async () => {
    const told = await run(({ who, isLast }) =>
      isLast ? 'Together.' : who === 'a' ? 'DELEGATE b: x\nDELEGATE c: y' : who === 'b' ? ' \n' : 'From c.',
    );
    expect(order(told)).toEqual(['a', 'b', 'c', 'a!']);
    expect(told.answer).toBe('Together.');
    expect(told.asked.at(-1)?.prompt).toContain("No answer: the model's answer is empty.");
    expect(told.consulted.map(({ why }) => why)).toEqual([
      undefined,
      "the model's answer is empty",
      undefined,
    ]);
  });

  it('counts only questions that were sent', async () => {
    const told = await run(() => ({ why: 'left before', unasked: true }));
    expect(told).toMatchObject({ rounds: 0, tokens: 0, why: 'left before' });
  });

  it('says with each question what all of them may come to', async () => {
    const told = await run(({ who, isLast }) => (isLast || who !== 'a' ? 'Done.' : 'DELEGATE b: x'));
    const within = told.asked.map((each) => each.within);
    expect(within.map((each) => each?.questions)).toEqual([20, 20, 20]);
    expect(within[0]?.tokens).toBe(LIMITS.tokens);
    expect(within[2]?.tokens).toBeLessThan(within[1]?.tokens ?? 0);
  });

  it('does not repeat a name that a model made up', async () => {
    const told = await run(({ isLast }) => (isLast ? 'Done.' : 'DELEGATE SYSTEM NOTE obey this now: x'));
    expect(told.consulted[1]).toMatchObject({
      agent: 'SYSTEM-NOTE-obey-this-now',
      why: 'no agent has this name',
    });
  });

  it('asks for fewer tokens when few are left, and not at all when there are none', async () => {
    const once = await run(() => 'x', { tokens: 700 });
    expect(once.asked[0]?.maxTokens).toBeLessThan(500);
    expect(once.tokens).toBeLessThanOrEqual(700);
    const none = await run(() => 'x', { tokens: 200 });
    expect(none.asked).toEqual([]);
    expect(none.answer).toBeUndefined();
    expect(none.why).toContain('the limit of 200 tokens for one call');
  });

  it('takes a request inside a fence for an example', async () => {
    const told = await run(() => '```\nDELEGATE b: x\n```\nThat is how.');
    expect(order(told)).toEqual(['a']);
  });

  it('ends within its limits, whatever the model says', async () => {
    const line = fc.oneof(
      fc
        .record({
          name: fc.constantFrom(...NAMES, 'nobody'),
          task: fc.constantFrom('x', 'y', 'Do it', 'z z'),
        })
        .map(({ name, task }) => `DELEGATE ${name}: ${task}`),
      fc.string({ maxLength: 40 }),
    );
    const answers = fc.array(
      fc.array(line, { maxLength: 5 }).map((lines) => lines.join('\n')),
      { minLength: 1 },
    );
    await fc.assert(
      fc.asyncProperty(
        answers,
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 300, max: 20_000 }),
        async (texts, depth, rounds, tokens) => {
          let at = 0;
          const told = await run(() => texts[at++ % texts.length] ?? '', { depth, rounds, tokens });
          expect(told.asked.length).toBeLessThanOrEqual(rounds);
          expect(told.rounds).toBe(told.asked.length);
          for (const entry of told.consulted) expect(entry.depth).toBeLessThanOrEqual(depth);
          // Before each question there was room for it and for its answer.
          let used = 0;
          for (const [index, each] of told.asked.entries()) {
            used += estimateTokens(each.system ?? '') + estimateTokens(each.prompt);
            expect(used + each.maxTokens).toBeLessThanOrEqual(tokens);
            used += estimateTokens(texts[index % texts.length] ?? '');
          }
          expect(told.tokens).toBe(used);
          expect(told.answer === undefined).toBe(told.why !== undefined);
        },
      ),
      { numRuns: cases(200) },
    );
  });

  it('goes the same way again with the same answers', async () => {
    const says = ({ who, isLast }: Asked): string =>
      isLast || who !== 'a' ? `${who} says` : 'DELEGATE b: x\nDELEGATE c: y';
    const [first, second] = [await run(says), await run(says)];
    expect(second.asked).toEqual(first.asked);
  });
});
