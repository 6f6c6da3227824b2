/**
 * The wire between an MCP App and the host that shows it: JSON-RPC by `postMessage`, as the extension
 * `io.modelcontextprotocol/ui` has it. By hand, because the class for it weighs ten times as much as the whole app.
 */
const PROTOCOL = '2026-01-26';

export interface HostContext {
  theme?: string;
  locale?: string;
  toolInfo?: { tool?: { name?: string } };
}

interface ToolResult {
  content?: readonly { type: string; text?: string }[];
  isError?: boolean;
}

interface Message {
  jsonrpc: '2.0';
  id?: number | string;
  method?: string;
  params?: unknown;
  result?: unknown;
  error?: { message?: string };
}

export interface Heard {
  context(context: HostContext): void;
  input(args: Readonly<Record<string, unknown>>): void;
  result(result: ToolResult): void;
}

const waiting = new Map<number, { done(result: unknown): void; failed(error: Error): void }>();
let last = 0;

// Which host it is cannot be known here: the sandbox has no origin, and says nothing that is secret.
const send = (message: Omit<Message, 'jsonrpc'>): void =>
  window.parent.postMessage({ jsonrpc: '2.0', ...message }, '*');

function request(method: string, params: object): Promise<unknown> {
  last += 1;
  const id = last;
  return new Promise((done, failed) => {
    waiting.set(id, { done, failed });
    send({ id, method, params });
  });
}

const notify = (method: string, params: object = {}): void => send({ method, params });

/** Begins to listen, introduces the app, and tells what the host has to say from then on. */
export async function connect(version: string, heard: Heard): Promise<void> {
  window.addEventListener('message', ({ data, source }: MessageEvent<Message | null>) => {
    if (source === window.parent && data?.jsonrpc === '2.0') receive(data, heard);
  });
  const { hostContext = {} } = (await request('ui/initialize', {
    appInfo: { name: 'bmad', version },
    appCapabilities: {},
    protocolVersion: PROTOCOL,
  })) as { hostContext?: HostContext };
  heard.context(hostContext);
  notify('ui/notifications/initialized');
  followSize();
}

function receive({ id, method, params, result, error }: Message, heard: Heard): void {
  if (method === undefined) return answered(id, result, error);
  // Whatever else a host asks, such as whether the app is there or ready to be taken down, needs no more than an answer.
  if (id !== undefined) return send({ id, result: {} });
  if (method === 'ui/notifications/tool-input')
    heard.input((params as { arguments?: Record<string, unknown> }).arguments ?? {});
  if (method === 'ui/notifications/tool-result') heard.result(params as ToolResult);
  if (method === 'ui/notifications/host-context-changed') heard.context(params as HostContext);
}

function answered(id: Message['id'], result: unknown, error: Message['error']): void {
  const own = typeof id === 'number' ? waiting.get(id) : undefined;
  if (own === undefined || typeof id !== 'number') return;
  waiting.delete(id);
  if (error === undefined) own.done(result);
  else own.failed(new Error(error.message ?? ''));
}

/** Hosts make as much room as the app says it takes. */
function followSize(): void {
  let told = 0;
  new ResizeObserver(() => {
    const height = Math.ceil(document.documentElement.getBoundingClientRect().height);
    if (height === told) return;
    told = height;
    notify('ui/notifications/size-changed', { height });
  }).observe(document.documentElement);
}

/** Reads data through the host; what an operation says went wrong is the error. */
export async function readData<T>(args: Readonly<Record<string, unknown>>): Promise<T> {
  const { content = [], isError } = (await request('tools/call', {
    name: 'app_data',
    arguments: args,
  })) as ToolResult;
  const text = content[0]?.text ?? '';
  if (isError === true) throw new Error(text);
  return JSON.parse(text) as T;
}

/** Puts a sentence into the conversation, which the host asks its user about or shows; whether it was taken. */
export async function say(text: string): Promise<boolean> {
  try {
    const { isError } = (await request('ui/message', {
      role: 'user',
      content: [{ type: 'text', text }],
    })) as { isError?: boolean };
    return isError !== true;
  } catch {
    return false;
  }
}
