import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PROTOCOLS, type Json, type ModelCall, type OfferedTool } from './model-protocols.ts';

/** A call that the model makes: of a tool by the server's own name for it. What it was shown last decides the rest. */
export interface ScriptedCall {
  tool: string;
  input: Record<string, unknown> | ((shown: string) => Record<string, unknown>);
}

export interface ScriptedModel {
  origin: string;
  /** Every request with tools in it: what a model is shown, as it was sent. */
  readonly requests: readonly Json[];
  /** What was offered in the last of them. */
  offered(): readonly OfferedTool[];
  /** Calls that no host has offered a tool for. */
  readonly impossible: readonly string[];
  close(): Promise<void>;
}

/** Fewer are those of a question that a host asks for itself. */
const LEAST_TOOLS = 3;

/**
 * A model for real hosts: it makes the calls of a script one after the other, whatever it is told, and keeps what hosts
 * show it. It is reached over HTTP by the protocols that hosts speak.
 */
export async function scriptedModel(script: readonly ScriptedCall[]): Promise<ScriptedModel> {
  const requests: Json[] = [];
  const impossible: string[] = [];
  const left = [...script];
  let offered: OfferedTool[] = [];

  function nextCall(body: Json): ModelCall | undefined {
    for (let call = left.shift(); call !== undefined; call = left.shift()) {
      const { tool: wanted, input } = call;
      const tool = offered.find(({ name }) => name === wanted);
      const id = `call_${script.length - left.length}`;
      if (tool !== undefined)
        return { tool, input: typeof input === 'function' ? input(JSON.stringify(body)) : input, id };
      impossible.push(wanted);
    }
    return undefined;
  }

  async function answered(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    const path = (request.url ?? '').split('?')[0] ?? '';
    const protocol = PROTOCOLS.find(({ handles }) => handles(path));
    if (protocol === undefined) {
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({
          object: 'list',
          data: [{ id: 'scripted', object: 'model' }],
          models: [],
          input_tokens: 1_000,
        }),
      );
      return;
    }
    const tools = protocol.offered(body);
    const isMain = tools.length >= LEAST_TOOLS;
    if (isMain) {
      offered = tools;
      requests.push(body);
    }
    protocol.answer(body, response, isMain ? nextCall(body) : undefined);
  }

  const server = createServer((request, response) => void answered(request, response));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    requests,
    impossible,
    offered: () => offered,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

async function bodyOf(request: IncomingMessage): Promise<Json> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  try {
    return JSON.parse(Buffer.concat(parts).toString('utf8')) as Json;
  } catch {
    return {};
  }
}
