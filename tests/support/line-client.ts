import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { createContext } from '../../src/app/app.ts';
import { extractSettings } from '../../src/config/flags.ts';
import { serveStreams } from '../../src/surfaces/mcp/stdio.ts';
import { cliFile, outsideHere, serverFile } from './app.ts';
import { bareEnvironment, withHandles } from './programs.ts';

export type Id = string | number | null;

/** Any JSON-RPC message a server may write. */
export interface Message {
  jsonrpc: string;
  id?: Id;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: { code: number; message: string; data?: Record<string, unknown> };
}

export interface LineClientOptions {
  cwd: string;
  home: string;
  env?: Record<string, string>;
  /** Flags of the server. */
  args?: readonly string[];
  /** Another copy of the server's program. */
  program?: string;
  /** How many files it may have open; without it, as many as this process. */
  handles?: number;
}

interface Waiter {
  fits(message: Message): boolean;
  resolve(message: Message): void;
  reject(error: Error): void;
}

export const INITIALIZE = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'line-client', version: '1' },
};

interface End {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A client that knows nothing but lines, so that a test can write what no well-behaved client would. */
export class Lines {
  /** Lines that are no JSON-RPC message; there must never be one. */
  readonly strays: string[] = [];
  readonly ended: Promise<End>;
  stderr = '';
  readonly #input: Writable;
  #rest = '';
  #unread: Message[] = [];
  #waiters: Waiter[] = [];
  #lastId = 1_000;
  #over = false;

  constructor(input: Writable, output: Readable, ended: Promise<End>) {
    this.#input = input;
    output.setEncoding('utf8').on('data', (text: string) => this.#read(text));
    // A server that has ended makes the next write fail; the test sees the end itself.
    input.on('error', () => undefined);
    this.ended = ended.then((end) => {
      this.#over = true;
      for (const waiter of this.#waiters) waiter.reject(this.#gone());
      return end;
    });
  }

  async initialize(): Promise<Message> {
    const answer = await this.request('initialize', INITIALIZE);
    await this.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return answer;
  }

  /** Writes bytes as they are, and is done when they have left. */
  write(bytes: string | Buffer): Promise<void> {
    return new Promise((resolve) => this.#input.write(bytes, () => resolve()));
  }

  send(message: unknown): Promise<void> {
    return this.write(`${JSON.stringify(message)}\n`);
  }

  async request(method: string, params?: unknown, id: Id = ++this.#lastId): Promise<Message> {
    await this.send({ jsonrpc: '2.0', id, method, ...(params === undefined ? {} : { params }) });
    return this.answer(id);
  }

  callTool(args: unknown): Promise<Message> {
    return this.request('tools/call', { name: 'bmad', arguments: args });
  }

  /** The next answer that has this id; null is the id of answers to what had none that could be read. */
  answer(id: Id): Promise<Message> {
    return this.#take((message) => message.method === undefined && message.id === id);
  }

  /** The next request or notification of this method that comes from the server. */
  asked(method: string): Promise<Message> {
    return this.#take((message) => message.method === method);
  }

  /** Answers nobody has asked for. */
  get unread(): readonly Message[] {
    return this.#unread;
  }

  /** Ends its input, as a client does that goes away. */
  async close(): Promise<End> {
    this.#input.end();
    return this.ended;
  }

  #take(fits: (message: Message) => boolean): Promise<Message> {
    const found = this.#unread.find(fits);
    if (found !== undefined) {
      this.#unread = this.#unread.filter((message) => message !== found);
      return Promise.resolve(found);
    }
    if (this.#over) return Promise.reject(this.#gone());
    return new Promise((resolve, reject) => this.#waiters.push({ fits, resolve, reject }));
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      const message = parseMessage(line);
      if (message === undefined) this.strays.push(line);
      else this.#deliver(message);
    }
  }

  #deliver(message: Message): void {
    const waiter = this.#waiters.find(({ fits }) => fits(message));
    if (waiter === undefined) {
      this.#unread.push(message);
      return;
    }
    this.#waiters = this.#waiters.filter((other) => other !== waiter);
    waiter.resolve(message);
  }

  #gone(): Error {
    return new Error(`The server has ended. Its stderr: ${this.stderr.slice(-2_000)}`);
  }
}

/** The same with a server program of its own. */
export class LineClient extends Lines {
  readonly child: ChildProcessWithoutNullStreams;

  constructor({ cwd, home, env = {}, args = [], program = serverFile, handles }: LineClientOptions) {
    const child = spawn(...withHandles(handles, process.execPath, [program, ...args]), {
      cwd,
      env: bareEnvironment(home, env),
    });
    const ended = new Promise<End>((resolve) => {
      child.once('close', (code, signal) => resolve({ code, signal }));
    });
    super(child.stdin, child.stdout, ended);
    this.child = child;
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
  }

  /** Starts a server and shakes hands with it. */
  static async connect(options: LineClientOptions): Promise<LineClient> {
    const client = new LineClient(options);
    await client.initialize();
    return client;
  }

  /** Waits until stderr holds a text so many times. */
  async logged(text: string, times: number): Promise<void> {
    while (this.stderr.split(text).length <= times) await once(this.child.stderr, 'data');
  }
}

/** The same with a server in this process, where what it answers is tested and not how it starts and ends. */
export function linesHere({
  cwd,
  home,
  env = {},
  args = [],
}: Pick<LineClientOptions, 'cwd' | 'home' | 'env' | 'args'>): Lines {
  const [input, output] = [new PassThrough(), new PassThrough()];
  async function served(): Promise<End> {
    const flags = extractSettings(args).settings;
    const context = await createContext({
      ...outsideHere({ cwd, home, flags, env: bareEnvironment(home, env) }),
      ownProgram: [process.execPath, cliFile],
      writeError: (text) => void (lines.stderr += text),
    });
    await serveStreams(context, input, output).ended;
    context.close();
    return { code: 0, signal: null };
  }
  const lines = new Lines(input, output, Promise.resolve().then(served));
  return lines;
}

/** The message on a line, if it is one to the letter of JSON-RPC 2.0. */
function parseMessage(line: string): Message | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const message = value as Message;
  if (message.jsonrpc !== '2.0') return undefined;
  if (typeof message.method === 'string')
    return 'result' in message || 'error' in message ? undefined : message;
  const answered = 'id' in message && 'result' in message !== 'error' in message;
  return answered ? message : undefined;
}
