import {
  type CallToolResult,
  type InputRequiredResult,
  type JSONRPCMessage,
  type ProtocolError,
  ProtocolErrorCode,
  type RequestId,
  type RequestMeta,
  type Server,
  type ServerContext,
  type Transport,
} from '@modelcontextprotocol/server';
import { isFields, isMeta } from './early.ts';

/** Answers a call of a tool; `sdk` is what handlers of the SDK are given. */
export type AnswerCall = (
  name: string,
  args: unknown,
  sdk: ServerContext,
) => Promise<CallToolResult | InputRequiredResult>;

type Asking = ServerContext['mcpReq'];

/**
 * The way of plain calls of tools of clients of the 2025 protocol. The SDK looks at a call and its answer by eight schemas, and makes
 * what only calls need that ask somebody; that takes as long as a short call itself. Whatever is not plain, and all of the 2026
 * protocol, goes the way through the SDK, with the same answers.
 */
export class ShortWay {
  readonly #transport: Transport;
  readonly #running = new Map<unknown, AbortController>();
  #served: { server: Server; answer: AnswerCall } | undefined;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Calls are for this server from now on, once its client has said who it is. */
  serve(server: Server, answer: AnswerCall): void {
    this.#served = { server, answer };
  }

  /** Whether a message is dealt with here. */
  takes(message: JSONRPCMessage): boolean {
    if (!('method' in message)) return false;
    const { method, params } = message;
    if (method === 'notifications/cancelled' && isFields(params))
      this.#running.get(params['requestId'])?.abort(params['reason']);
    if (method !== 'tools/call' || !('id' in message) || params === undefined) return false;
    const { name, arguments: args, _meta: meta = {}, ...more } = params;
    // A client that has introduced itself speaks the 2025 protocol, in which the SDK serves it from then on.
    const served = this.#served?.server.getClientCapabilities() === undefined ? undefined : this.#served;
    if (served === undefined || typeof name !== 'string' || !isPlainArguments(args)) return false;
    if (Object.keys(more).length > 0 || !isPlainMeta(meta)) return false;
    const running = new AbortController();
    const request = new PlainRequest(message.id, meta, running.signal, served.server);
    void this.#answer(message.id, running, served.answer(name, args, { mcpReq: request }));
    return true;
  }

  /** The connection is over: nobody waits for an answer. */
  close(): void {
    for (const running of this.#running.values()) running.abort();
  }

  async #answer(id: RequestId, running: AbortController, result: ReturnType<AnswerCall>): Promise<void> {
    this.#running.set(id, running);
    const answered = await result.then(
      (value) => ({ result: value, jsonrpc: '2.0' as const, id }),
      (error: unknown) => ({ jsonrpc: '2.0' as const, id, error: errorOf(error) }),
    );
    if (this.#running.get(id) === running) this.#running.delete(id);
    if (running.signal.aborted) return;
    try {
      await this.#transport.send(answered);
    } catch (error) {
      this.#transport.onerror?.(error as Error);
    }
  }
}

const isPlainArguments = (args: unknown): boolean =>
  args === undefined || (isFields(args) && !Object.hasOwn(args, '__proto__'));

/** What the protocol itself has there goes the SDK's way, but for the token of progress. */
const isPlainMeta = (meta: unknown): meta is RequestMeta =>
  isMeta(meta) && !Object.keys(meta).some((key) => key.startsWith('io.modelcontextprotocol/'));

/** What handlers are given: what asks the client is made where something is asked, which hardly any call does. */
class PlainRequest {
  readonly method = 'tools/call';
  readonly id: RequestId;
  readonly _meta: RequestMeta;
  readonly signal: AbortSignal;
  readonly #server: Server;

  constructor(id: RequestId, meta: RequestMeta, signal: AbortSignal, server: Server) {
    this.id = id;
    this._meta = meta;
    this.signal = signal;
    this.#server = server;
  }

  get send(): Asking['send'] {
    return this.#server.request.bind(this.#server);
  }
  get notify(): Asking['notify'] {
    return this.#server.notification.bind(this.#server);
  }
  get elicitInput(): Asking['elicitInput'] {
    return this.#server.elicitInput.bind(this.#server);
  }
  get requestSampling(): Asking['requestSampling'] {
    return this.#server.createMessage.bind(this.#server);
  }
  async log(): Promise<void> {
    // The server offers no log to its clients.
  }
  requestState<T>(): T | undefined {
    return undefined;
  }
}

/** What the SDK makes of whatever a handler throws. */
function errorOf(thrown: unknown): { code: number; message: string; data?: unknown } {
  const { code, message = 'Internal error', data } = (thrown ?? {}) as Partial<ProtocolError>;
  return {
    code: Number.isSafeInteger(code) ? (code as number) : ProtocolErrorCode.InternalError,
    message,
    ...(data === undefined ? {} : { data }),
  };
}
