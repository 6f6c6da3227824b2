import { Role, TaskState, type Message, type StreamResponse, type Task } from '@a2a-js/sdk';
import { DefaultAgentCardResolver, JsonRpcTransportFactory, type Transport } from '@a2a-js/sdk/client';
import { LegacyJsonRpcTransport } from '@a2a-js/sdk/compat/v0_3/client';
import { temporaryFolder } from './app.ts';
import { bmadHere } from './command-line.ts';
import { type HttpServer, serveHere, startHttpServer } from './http-server.ts';
import { KIT_FILES, writeFiles } from './kit-project.ts';
import { bareEnvironment, bmad, type Ended } from './programs.ts';

export type Version = '1.0' | '0.3';
export const VERSIONS: readonly Version[] = ['1.0', '0.3'];

export interface A2aPlace {
  cwd: string;
  home: string;
  /** A server of its own for the project, in this process; ended with the tests of the file. */
  serve(...flags: string[]): Promise<A2aServer>;
  /** The same as a program. */
  start(...flags: string[]): Promise<A2aServer>;
  /** The command line in this process, which is another than that of a program; its data. */
  cli(...args: string[]): Promise<Record<string, unknown>>;
  /** The same with the built program. */
  program(...args: string[]): Promise<Record<string, unknown>>;
  /** A person at a terminal reads a task and approves what was read. */
  approve(id: string, ...more: string[]): Promise<void>;
}

interface A2aServer {
  origin: string;
  process: HttpServer;
  /** The SDK's client of a version. */
  client(version: Version): Promise<Transport>;
  /** What a plain program sends and gets. */
  post(body: unknown, headers?: Record<string, string>): Promise<{ status: number; body: RpcAnswer }>;
}

export interface RpcAnswer {
  id?: unknown;
  result?: Record<string, unknown>;
  error?: { code: number; message: string };
}

/** A project with the kit's files and a queue of its own. */
export async function a2aPlace(onEnd: (cleanUp: () => Promise<void>) => void): Promise<A2aPlace> {
  const [cwd, home] = [await temporaryFolder(onEnd), await temporaryFolder(onEnd)];
  await writeFiles(cwd, KIT_FILES);
  const running: HttpServer[] = [];
  onEnd(async () => void (await Promise.all(running.map((one) => one.stop()))));
  const env = bareEnvironment(home);
  const cli = async (...args: string[]) => dataOf(await bmadHere([...args, '--json'], { cwd, env }), args);
  function dataOf(ended: Ended, args: readonly string[]): Record<string, unknown> {
    if (ended.code !== 0)
      throw new Error(`bmad ${args.join(' ')}: ${ended.stdout.toString('utf8')} ${ended.stderr}`);
    return JSON.parse(ended.stdout.toString('utf8')) as Record<string, unknown>;
  }
  async function begun(start: typeof serveHere, flags: readonly string[]): Promise<A2aServer> {
    const started = await start({ cwd, home, more: ['--a2a', ...flags] });
    running.push(started);
    return serverAt(started);
  }
  return {
    cwd,
    home,
    cli,
    program: async (...args) => dataOf(await bmad([...args, '--json'], { cwd, env }), args),
    async approve(id, ...more) {
      const { waits } = (await cli('task', 'show', id)) as { waits: { digest: string } };
      await cli('task', 'approve', id, '--digest', waits.digest, ...more);
    },
    serve: (...flags) => begun(serveHere, flags),
    start: (...flags) => begun(startHttpServer, flags),
  };
}

function serverAt(started: HttpServer): A2aServer {
  const { origin } = new URL(started.url);
  return {
    origin,
    process: started,
    async client(version) {
      const card = await new DefaultAgentCardResolver().resolve(origin);
      const place = card.supportedInterfaces.find((one) => one.protocolVersion === version);
      if (place === undefined) throw new Error(`The card has no place for ${version}.`);
      return version === '1.0'
        ? new JsonRpcTransportFactory().create(place.url, card)
        : new LegacyJsonRpcTransport({ endpoint: place.url });
    },
    async post(body, headers = {}) {
      const response = await fetch(`${origin}/a2a`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      });
      return { status: response.status, body: (await response.json()) as RpcAnswer };
    },
  };
}

let messages = 0;

/** A message of a client, complete as the SDK wants it. */
export function message(text: string, more: Partial<Message> = {}): Message {
  messages += 1;
  return {
    messageId: `message-${messages}`,
    contextId: '',
    taskId: '',
    role: Role.ROLE_USER,
    parts: [{ content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: '' }],
    metadata: { skill: 'architect' },
    extensions: [],
    referenceTaskIds: [],
    ...more,
  };
}

/** Sends without waiting for the end, and gives the task. */
export async function send(client: Transport, what: Message, wait = false): Promise<Task> {
  const sent = await client.sendMessage({
    tenant: '',
    message: what,
    metadata: undefined,
    configuration: {
      acceptedOutputModes: [],
      taskPushNotificationConfig: undefined,
      returnImmediately: !wait,
    },
  });
  if (!('id' in sent)) throw new Error('A task was expected.');
  return sent;
}

export const stateOf = (task: Task): string =>
  TaskState[task.status?.state ?? TaskState.TASK_STATE_UNSPECIFIED] ?? '';

export const wordsOf = (task: Pick<Task, 'status'>): string => {
  const content = task.status?.message?.parts[0]?.content;
  return content?.$case === 'text' ? content.value : '';
};

export const resultOf = (task: Task): string | undefined => {
  const content = task.artifacts[0]?.parts[0]?.content;
  return content?.$case === 'text' ? content.value : undefined;
};

/** The next event of a stream in a few words: `task SUBMITTED`, `artifact …`, `status WORKING`, `end`. */
export async function nextOf(stream: AsyncGenerator<StreamResponse, void, undefined>): Promise<string> {
  const { done, value } = await stream.next();
  if (done === true || value?.payload === undefined) return 'end';
  const short = (state: TaskState | undefined): string =>
    (TaskState[state ?? TaskState.TASK_STATE_UNSPECIFIED] ?? '').replace('TASK_STATE_', '');
  switch (value.payload.$case) {
    case 'task':
      return `task ${short(value.payload.value.status?.state)}`;
    case 'statusUpdate':
      return `status ${short(value.payload.value.status?.state)}`;
    case 'artifactUpdate': {
      const content = value.payload.value.artifact?.parts[0]?.content;
      return `artifact ${content?.$case === 'text' ? content.value : ''}`;
    }
    case 'message':
      return 'message';
  }
}
