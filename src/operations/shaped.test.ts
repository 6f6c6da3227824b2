import { afterAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { contextIn, temporaryFolder, testCall } from '../../tests/support/app.ts';
import { LIMITS } from '../../scripts/reference/limits.ts';
import { DETAILS } from './fields.ts';
import { execute } from './execute.ts';
import { defineOperation, type AnyOperation, type Answer } from './operation.ts';

const TEXT = Array.from({ length: 2_000 }, (_, line) => `Line ${line} of a long answer.`).join('\n');

function saying(input: z.ZodObject, more: Partial<AnyOperation> = {}): AnyOperation {
  return defineOperation({
    name: 'long',
    title: 'Long',
    description: 'A long answer',
    effect: 'read',
    input,
    output: z.object({ text: z.string() }),
    run: () => Promise.resolve({ text: TEXT }),
    render: ({ text }) => ({ body: text as string, note: 'A note.' }),
    ...more,
  });
}

const context = await contextIn(await temporaryFolder(afterAll));

async function answerOf(operation: AnyOperation, input = {}, within = context): Promise<Answer> {
  const outcome = await execute(operation, input, within, testCall());
  if (!outcome.ok) throw outcome.error;
  return outcome.answer;
}

const detail = z.enum(DETAILS).optional();

describe('an answer that is too long', () => {
  it('is cut at the end of a line, and says how to get the rest', async () => {
    const {
      body,
      note = '',
      steps,
    } = await answerOf(saying(z.strictObject({ detail, limit: z.int().optional() })));
    expect(Buffer.byteLength(body + note)).toBeLessThanOrEqual(LIMITS.answerBytes);
    expect(body).toMatch(/of a long answer\.\n$/);
    expect(TEXT.startsWith(body)).toBe(true);
    expect(note).toMatch(/^A note\. CUT after 9\.\d kB of \d\d\.\d kB\. To narrow it: limit\.$/);
    expect(steps).toEqual([{ operation: 'long', args: { detail: 'full' }, why: 'Read all of it' }]);
  });

  it('is whole when all of it was asked for, or nobody counts', async () => {
    const operation = saying(z.strictObject({ detail }));
    expect((await answerOf(operation, { detail: 'full' })).body).toBe(TEXT);
    const patient = await contextIn(await temporaryFolder(afterAll), { flags: { answerBytes: '400000' } });
    expect((await answerOf(operation, {}, patient)).body).toBe(TEXT);
  });

  it('is left to operations that shape it themselves, and files are never cut', async () => {
    const paging = saying(z.strictObject({ cursor: z.string().optional() }));
    expect((await answerOf(paging)).body).toBe(TEXT);
    const file = saying(z.strictObject({}), { render: () => ({ body: TEXT, exact: true }) });
    expect((await answerOf(file)).body).toBe(TEXT);
    const handing = saying(z.strictObject({ cursor: z.string().optional() }), {
      route: () => ({ to: 'explain', args: { target: 'architect' } }),
    });
    const narrow = { ...context, config: { ...context.config, answerBytes: 1_000 } };
    expect((await answerOf(handing, {}, narrow)).note).toContain('CUT');
  });
});
