import type { Client } from './client.ts';
import type { ToolCall } from './contenders.ts';

export interface Called {
  milliseconds: number;
  /** Of all the text in the answer, which is what a model gets to read. */
  bytes: number;
}

/** Calls a tool and makes sure that the answer is a right one: a fast error is worth nothing. */
export async function callTool(client: Client, call: ToolCall): Promise<Called> {
  const { result, milliseconds } = await client.request('tools/call', {
    name: call.name,
    arguments: call.arguments,
  });
  const { content = [], isError = false } = (result ?? {}) as {
    content?: { type: string; text?: string }[];
    isError?: boolean;
  };
  const text = content.map((block) => (block.type === 'text' ? (block.text ?? '') : '')).join('');
  if (isError || !text.includes(call.expected)) {
    throw new Error(
      `${client.name}: ${JSON.stringify(call.arguments)} was not answered as expected (isError ${isError}, ` +
        `looked for ${JSON.stringify(call.expected)}):\n${text.slice(0, 600)}`,
    );
  }
  return { milliseconds, bytes: Buffer.byteLength(text) };
}
