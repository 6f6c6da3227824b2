import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';

export interface Program {
  name: string;
  /** The Node that runs it; without one, the Node that runs the benchmark. */
  node?: string;
  /** What follows `node` on the command line. */
  args: readonly string[];
  folder: string;
  env: NodeJS.ProcessEnv;
}

export interface ToolCall {
  name: string;
  arguments: Record<string, unknown>;
  /** A text that every right answer holds; the peer's errors look like ordinary answers otherwise. */
  expected: string;
}

export interface Answer {
  result: unknown;
  /** From sending the request to the end of the line that answers it. */
  milliseconds: number;
  /** From just before the process was started to the end of that line. */
  sinceSpawn: number;
}

interface Waiting {
  sent: number;
  resolve(answer: Answer): void;
  reject(error: Error): void;
}

interface Message {
  id?: number | string;
  method?: string;
  result?: unknown;
  error?: { message?: string };
}

const PROTOCOL_VERSION = '2025-06-18';
const METHOD_NOT_FOUND = -32_601;
const NEWLINE = 10;
const ANSWER_TIMEOUT_MS = 180_000;
const LEAVE_TIMEOUT_MS = 3_000;
const STDERR_KEPT = 4_000;

const running = new Set<ChildProcessWithoutNullStreams>();

// Whatever way the benchmark ends, no server may stay behind.
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

/** Sends and receives lines and does no more, so that nearly all of the time belongs to the server. */
export class Client {
  readonly name: string;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #spawned: number;
  readonly #waiting = new Map<number, Waiting>();
  readonly #exited: Promise<void>;
  #pieces: Buffer[] = [];
  #lastId = 0;
  #stderr = '';

  constructor({ name, node = process.execPath, args, folder, env }: Program) {
    this.name = name;
    this.#spawned = performance.now();
    const child = spawn(node, args, { cwd: folder, env, stdio: ['pipe', 'pipe', 'pipe'] });
    this.#child = child;
    running.add(child);
    this.#exited = new Promise((resolve) => {
      child.once('close', (code, signal) => {
        running.delete(child);
        this.#fail(`the server ended (${signal ?? `code ${code}`})`);
        resolve();
      });
    });
    child.once('error', (error) => this.#fail(error.message));
    // A server that is gone is noticed by its end; the broken pipe says nothing new.
    child.stdin.on('error', () => undefined);
    child.stdout.on('data', (chunk: Buffer) => this.#receive(chunk));
    child.stderr.on('data', (chunk: Buffer) => {
      this.#stderr = `${this.#stderr}${chunk.toString('utf8')}`.slice(-STDERR_KEPT);
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** The handshake and the first tools/list, as a host does them. Resolves with the answer to tools/list. */
  async start(): Promise<Answer> {
    await this.request('initialize', {
      protocolVersion: PROTOCOL_VERSION,
      capabilities: {},
      clientInfo: { name: 'bench', version: '1.0.0' },
    });
    this.#send({ method: 'notifications/initialized' });
    return this.request('tools/list', {});
  }

  request(method: string, params: Record<string, unknown>): Promise<Answer> {
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id);
        reject(this.#error(`no answer to ${method} within ${ANSWER_TIMEOUT_MS} ms`));
      }, ANSWER_TIMEOUT_MS);
      this.#waiting.set(id, {
        sent: performance.now(),
        resolve: (answer) => (clearTimeout(timer), resolve(answer)),
        reject: (error) => (clearTimeout(timer), reject(error)),
      });
      this.#send({ id, method, params });
    });
  }

  /** Lets the server end by itself, since some write caches on the way out; ends it if it does not. */
  async close(): Promise<void> {
    this.#child.stdin.end();
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), LEAVE_TIMEOUT_MS);
    await this.#exited;
    clearTimeout(timer);
  }

  #send(message: Record<string, unknown>): void {
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  #receive(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      this.#pieces.push(chunk.subarray(from, end));
      from = end + 1;
      const now = performance.now();
      const line = Buffer.concat(this.#pieces).toString('utf8').trim();
      this.#pieces = [];
      if (line !== '') this.#take(line, now);
    }
    if (from < chunk.length) this.#pieces.push(chunk.subarray(from));
  }

  #take(line: string, now: number): void {
    let message: Message;
    try {
      message = JSON.parse(line) as Message;
    } catch {
      this.#fail(`a line on stdout is not JSON: ${line.slice(0, 200)}`);
      return;
    }
    if (message.method !== undefined) {
      // This client offers nothing, but a server that asks must not wait for ever.
      const error = { code: METHOD_NOT_FOUND, message: 'The benchmark offers nothing to servers.' };
      if (message.id !== undefined) this.#send({ id: message.id, error });
      return;
    }
    const id = Number(message.id);
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    this.#waiting.delete(id);
    if (message.error !== undefined) waiting.reject(this.#error(message.error.message ?? 'an error'));
    else {
      const { result } = message;
      waiting.resolve({ result, milliseconds: now - waiting.sent, sinceSpawn: now - this.#spawned });
    }
  }

  #fail(reason: string): void {
    for (const { reject } of this.#waiting.values()) reject(this.#error(reason));
    this.#waiting.clear();
  }

  #error(reason: string): Error {
    const said = this.#stderr.trim();
    return new Error(`${this.name}: ${reason}.${said === '' ? '' : ` Its stderr ends with:\n${said}`}`);
  }
}

/** Starts a server, lends it to `use`, and ends it whatever happens. */
export async function withClient<T>(program: Program, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client(program);
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

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
