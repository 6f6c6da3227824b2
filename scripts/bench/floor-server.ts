import { createInterface } from 'node:readline';

// What Node itself takes: one tool, written by hand, without any package. Nothing that speaks the protocol can be faster.
const TOOLS = [
  {
    name: 'echo',
    description: 'Says the text back',
    inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
  },
];

interface Message {
  id?: number;
  method: string;
  params?: { protocolVersion?: string; arguments?: { text?: string } };
}

function resultOf({ method, params }: Message): unknown {
  if (method === 'initialize') {
    return {
      protocolVersion: params?.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'floor', version: '1.0.0' },
    };
  }
  return method === 'tools/list'
    ? { tools: TOOLS }
    : { content: [{ type: 'text', text: params?.arguments?.text ?? '' }] };
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line) as Message;
  if (message.id === undefined) return;
  const answer = { jsonrpc: '2.0', id: message.id, result: resultOf(message) };
  process.stdout.write(`${JSON.stringify(answer)}\n`);
});
