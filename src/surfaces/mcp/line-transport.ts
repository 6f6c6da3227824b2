import { anyJson } from '../../base/parse/json.ts';
import type { Readable, Writable } from 'node:stream';
import {
  parseJSONRPCMessage,
  serializeMessage,
  type JSONRPCMessage,
  type Transport,
} from '@modelcontextprotocol/server';

import { type FirstRequests, isPlainRequest } from './early.ts';

/** A line longer than this is answered with an error and discarded; the connection stays open. */
const LINE_LIMIT = 32 * 1024 * 1024;

const HEAD_LENGTH = 1_000;

/**
 * How long an answer to a client that has closed its end may take, after the one before. A host that is in a hurry sends a signal; a pipe waits.
 */
const LAST_ANSWERS_MS = 10_000;

/** Is answered when the connection ends: nobody waits for it. */
const STAYS_OPEN = 'subscriptions/listen';

const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;

/**
 * JSON-RPC over a pair of streams, one message a line. The SDK's own transport ends the whole connection when a line
 * is too long and stays silent when one is malformed; this one answers and keeps serving.
 */
export class LineTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: Transport['onmessage'];
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #first: FirstRequests | undefined;
  #pieces: Buffer[] = [];
  #size = 0;
  #skipping = false;
  readonly #unanswered = new Set<unknown>();
  readonly #left = new AbortController();
  #last: NodeJS.Timeout | undefined;
  #closed = false;
  #drained: Promise<void> | undefined;

  constructor(input: Readable, output: Writable, first?: FirstRequests) {
    this.#input = input;
    this.#output = output;
    this.#first = first;
  }

  /** Fires when the client has closed its end. What was asked before is still answered, but nobody waits for long work. */
  get left(): AbortSignal {
    return this.#left.signal;
  }

  async start(): Promise<void> {
    this.#input.on('data', this.#onData);
    this.#input.on('end', this.#onInputEnd);
    this.#input.on('close', this.#onInputEnd);
    this.#input.on('error', this.#onEnd);
    this.#output.on('error', this.#onEnd);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const line = this.#first?.instead(message) ?? serializeMessage(message);
    const written = line === '' ? undefined : this.#write(line);
    if ('id' in message && !('method' in message)) this.#unanswered.delete(message.id);
    this.#last?.refresh();
    if (this.left.aborted && this.#unanswered.size === 0) this.#onEnd();
    await written;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#input.off('data', this.#onData);
    this.#input.pause();
    this.#pieces = [];
    this.onclose?.();
  }

  /** What was asked before the input ended is still answered, for as long as a client can be expected to wait. */
  readonly #onInputEnd = (): void => {
    if (this.left.aborted) return;
    this.#endLine();
    this.#left.abort();
    if (this.#unanswered.size === 0) this.#onEnd();
    else this.#last = setTimeout(this.#onEnd, LAST_ANSWERS_MS).unref();
  };

  readonly #onEnd = (): void => {
    void this.close();
  };

  readonly #onData = (chunk: Buffer): void => {
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      this.#keep(chunk.subarray(from, end));
      this.#endLine();
      from = end + 1;
    }
    this.#keep(chunk.subarray(from));
  };

  #keep(piece: Buffer): void {
    if (piece.length === 0 || this.#skipping) return;
    this.#size += piece.length;
    if (this.#size > LINE_LIMIT) {
      // The beginning is enough to find the id in, so that the client learns which request it was.
      this.#pieces = [Buffer.concat(this.#pieces).subarray(0, HEAD_LENGTH)];
      this.#skipping = true;
      return;
    }
    this.#pieces.push(piece);
  }

  #endLine(): void {
    const line = this.#pieces.length === 1 ? (this.#pieces[0] as Buffer) : Buffer.concat(this.#pieces);
    const tooLong = this.#skipping;
    this.#pieces = [];
    this.#size = 0;
    this.#skipping = false;
    if (tooLong)
      this.#refuse(
        INVALID_REQUEST,
        `Invalid request: a message may be at most ${LINE_LIMIT} bytes.`,
        idInHead(line),
      );
    else if (line.length > 0) this.#receive(line.toString('utf8').trim());
  }

  #receive(text: string): void {
    if (text === '') return;
    const value = anyJson(text);
    if (value === undefined) {
      this.#refuse(PARSE_ERROR, 'Parse error: the line is not JSON.');
      return;
    }
    let message: JSONRPCMessage;
    try {
      // The SDK's look at a message takes far longer, and finds no more in most of them.
      message = isPlainRequest(value) ? value : parseJSONRPCMessage(value);
    } catch {
      this.#refuse(INVALID_REQUEST, 'Invalid request: not a JSON-RPC 2.0 message.', idOf(value));
      return;
    }
    if ('method' in message && 'id' in message && message.method !== STAYS_OPEN)
      this.#unanswered.add(message.id);
    const kept = this.#first?.received(message);
    if (kept !== undefined) void this.#write(kept);
    if ('method' in message && message.method === 'notifications/cancelled') {
      const { requestId } = (message.params ?? {}) as { requestId?: unknown };
      this.#unanswered.delete(requestId);
    }
    this.onmessage?.(message);
  }

  #refuse(code: number, message: string, id: string | number | null = null): void {
    this.onerror?.(new Error(message));
    void this.#write(`${JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } })}\n`);
  }

  /** When the client reads slowly, all answers wait for the same moment: a burst of them adds no listeners. */
  async #write(line: string): Promise<void> {
    if (this.#closed || this.#output.write(line)) return;
    this.#drained ??= new Promise<void>((resolve) => {
      const done = (): void => {
        this.#output.off('drain', done);
        this.#output.off('close', done);
        this.#drained = undefined;
        resolve();
      };
      this.#output.once('drain', done);
      this.#output.once('close', done);
    });
    await this.#drained;
  }
}

/** The id of a message whose end was never kept; clients write it before the long parameters. */
function idInHead(head: Buffer): string | number | null {
  const id = /"id"\s*:\s*("(?:[^"\\]|\\.){0,200}"|-?\d{1,16})/.exec(head.toString('utf8'))?.[1];
  return (anyJson(id ?? '') as string | number | undefined) ?? null;
}

function idOf(value: unknown): string | number | null {
  if (typeof value !== 'object' || value === null || !('id' in value)) return null;
  return typeof value.id === 'string' || typeof value.id === 'number' ? value.id : null;
}
