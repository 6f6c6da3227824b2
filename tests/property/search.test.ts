import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { execute } from '../../src/operations/execute.ts';
import { complete } from '../../src/operations/client/prompts.ts';
import { search } from '../../src/operations/catalogue/search.ts';
import { contextIn, temporaryFolder, testCall } from '../support/app.ts';
import { cases } from '../support/how-much.ts';

const context = await contextIn(await temporaryFolder(afterAll));

/** Any sixteen-bit units: control characters, lone surrogates, all scripts. */
const anything = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 200 })
  .map((units) => String.fromCharCode(...units));
/** What people type, with anything in between. */
const nearlyWords = fc
  .array(
    fc.oneof(
      anything,
      fc.constantFrom(
        'prd',
        'épic',
        'story',
        'architecte',
        'qui',
        '.*',
        '(?=',
        '[[',
        '\0',
        '👩‍💻',
        'база',
        '仕様',
      ),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(' '));
const query = fc.oneof(anything, nearlyWords);

async function answer(input: unknown): Promise<unknown> {
  const outcome = await execute(search, input, context, testCall());
  return outcome.ok ? outcome.data : { code: outcome.error.code };
}

describe('search', () => {
  it('answers whatever is typed, and the same again', async () => {
    await fc.assert(
      fc.asyncProperty(query, fc.constantFrom('all', 'agents', 'knowledge'), async (words, type) => {
        const first = await answer({ query: words, type });
        const code = (first as { code?: string }).code;
        if (code !== undefined) {
          // Nothing but space is no question; everything else has an answer.
          expect(words.trim()).toBe('');
          expect(code).toBe('invalid_input');
        }
        expect(await answer({ query: words, type })).toEqual(first);
      }),
      { numRuns: cases(300) },
    );
  });

  it('orders hits by score, old names last', async () => {
    await fc.assert(
      fc.asyncProperty(nearlyWords, async (words) => {
        const { items = [] } = (await answer({ query: words, limit: 200 })) as {
          items?: { score: number; why: string }[];
        };
        const scores = items.map(({ score }) => score);
        expect(scores).toEqual([...scores].sort((a, b) => b - a));
        expect(items.every(({ why }) => why !== '')).toBe(true);
      }),
      { numRuns: cases(200) },
    );
  });

  it('completes whatever is typed with names that are there', async () => {
    await fc.assert(
      fc.asyncProperty(query, async (value) => {
        const outcome = await execute(complete, { what: 'workflow', value }, context, testCall());
        expect(outcome.ok).toBe(true);
      }),
      { numRuns: cases(300) },
    );
  });
});
