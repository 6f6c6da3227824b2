import { expect } from 'vitest';
import type { Lines, Message } from './line-client.ts';

const LARGEST = 8 * 1024;
/** A line of a stack trace, or the name of a file of ours with a line number. */
const STACK = /\n\s+at |\.[cm]?[jt]s:\d+/;

/** What the answer says went wrong; fails the test if the answer is not flagged as an error. */
export function errorText({ error, result }: Message): string {
  if (error !== undefined) return error.message;
  const content = result?.['content'] as { text?: string }[] | undefined;
  expect(result).toHaveProperty('isError', true);
  return content?.[0]?.text ?? '';
}

/** Holds every error to the same standard: flagged, short, without a stack, and with the words that are wanted. */
export function expectError(answer: Message, ...names: string[]): void {
  const text = errorText(answer);
  expect(text).not.toBe('');
  expect(text).not.toMatch(STACK);
  for (const name of names) expect(text).toContain(name);
  expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThanOrEqual(LARGEST);
}

/** After a fault the server must be as good as new. */
export async function expectServing(client: Lines): Promise<void> {
  const { result } = await client.callTool({ operation: 'list', query: 'agents', detail: 'brief' });
  expect(result).toEqual({
    content: [
      { type: 'text', text: 'analyst, architect, dev, pm, ux-designer' },
      { type: 'text', text: expect.stringContaining('5 agents') as string },
      { type: 'text', text: expect.stringContaining('List those of a module') as string },
    ],
  });
  expect(client.unread).toEqual([]);
  expect(client.strays).toEqual([]);
}
