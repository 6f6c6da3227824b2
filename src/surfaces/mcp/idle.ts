import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises';
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type JSONRPCMessage,
  LATEST_PROTOCOL_VERSION,
  type McpServerFactory,
  PROTOCOL_VERSION_META_KEY,
  type Transport,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { isCallUnderWay } from '../../base/async.ts';
import { SERVER_PROGRAM, VERSION } from '../../base/product.ts';
import type { Context } from '../../operations/context.ts';
import { operationsOnDemand } from './steps.ts';
import { callTool } from './tools.ts';
import { unattended } from './watch.ts';

/** Lets messages in between two pieces of work, and waits until those are dealt with. */
type Pause = () => Promise<void>;

type Work = (pause: Pause) => Promise<void>;

/** What a server does while nobody asks for anything. Whatever has begun when it ends is left. */
export interface Idle {
  /** Something has arrived, which comes first. */
  heard(): void;
  /** The tools are being listed. */
  listed(): void;
  /** Runs this when there is time for it, and not before the first list of tools is out. */
  afterListing(work: Work): void;
  /** Runs this at once if the tools have been listed; otherwise when there is time, after the list or a second without. */
  orAfterListing(work: () => Promise<void>): Promise<void> | undefined;
  close(): void;
}

/** Nobody has asked for anything for so long, and everything is answered: then there is time. */
const QUIET_MS = 50;
/** Most hosts ask for the tools at once. */
const UNLISTED_MS = 1_000;

export function createIdle(failed: (error: unknown) => void): Idle {
  let heardAt = 0;
  let wasListed = false;
  let ended = false;
  let running = false;
  let timer: NodeJS.Timeout | undefined;
  const queue: Work[] = [];
  const unlisted: { work: Work; patient: boolean }[] = [];

  async function quiet(): Promise<void> {
    do await delay(QUIET_MS, undefined, { ref: false });
    while (performance.now() - heardAt < QUIET_MS || isCallUnderWay());
  }

  async function pause(): Promise<void> {
    const before = heardAt;
    await turn();
    if (heardAt !== before) await quiet();
    if (ended) throw new Error('The server has ended.');
  }

  async function run(): Promise<void> {
    if (running) return;
    running = true;
    while (queue.length > 0) {
      await quiet();
      if (ended) return;
      const work = queue.shift() as Work;
      await work(pause).catch((error: unknown) => {
        if (!ended) failed(error);
      });
    }
    running = false;
  }

  function soon(work: Work): void {
    queue.push(work);
    void run();
  }

  /** Lets those begin that have waited for the list, or only those that do not insist on it. */
  function begin(all: boolean): void {
    for (const each of unlisted.splice(0)) {
      if (all || !each.patient) soon(each.work);
      else unlisted.push(each);
    }
  }

  return {
    heard() {
      heardAt = performance.now();
    },
    listed() {
      if (wasListed) return;
      wasListed = true;
      clearTimeout(timer);
      begin(true);
    },
    afterListing(work) {
      if (wasListed) soon(work);
      else unlisted.push({ work, patient: true });
    },
    orAfterListing(work) {
      if (wasListed) return work();
      unlisted.push({ work, patient: false });
      timer ??= setTimeout(() => {
        timer = undefined;
        begin(false);
      }, UNLISTED_MS).unref();
      return undefined;
    },
    close() {
      ended = true;
      clearTimeout(timer);
    },
  };
}

/** Calls the tool that stands for all operations, for nobody. */
type CallForNobody = (quiet: Context, args: Record<string, unknown>) => Promise<unknown>;

/** Once the tools are listed and nobody asks for anything: loads what a first call needs, unless that is switched off. */
export function prewarmed(
  context: Context,
  idle: Idle,
  call: CallForNobody = (quiet, args) => callTool('bmad', args, quiet, unattended()),
): void {
  idle.afterListing(async () => context.stay());
  if (!context.config.prewarm) return;
  idle.afterListing(async (pause) => {
    const { prewarm } = await import('./prewarm.ts');
    // Nobody has asked for it, and nobody counts it.
    const quiet = { ...context, observe: undefined, turn: undefined, tracing: undefined };
    await prewarm(quiet, pause, { operations: operationsOnDemand, call: (args) => call(quiet, args) });
  });
}

export type Era = Parameters<McpServerFactory>[0]['era'];

const MODERN_VERSION = '2026-07-28';
const CALL_ID = 2;
const clientInfo = { name: SERVER_PROGRAM, version: VERSION };

/**
 * A call to a server of its own, all the way through the SDK, whose answer nobody gets. The SDK compiles what it checks
 * messages with when the first of a kind comes, and that costs a client more than the call itself.
 */
export async function rehearse(
  factory: McpServerFactory,
  era: Era,
  args: Record<string, unknown>,
): Promise<void> {
  let answered = (): void => undefined;
  const answer = new Promise<void>((resolve) => (answered = resolve));
  const transport: Transport = {
    start: async () => undefined,
    async send(message) {
      if ('id' in message && message.id === CALL_ID) answered();
    },
    async close() {
      transport.onclose?.();
    },
  };
  const server = serveStdio(factory, { transport, onerror: answered });
  for (const message of messages(era, { name: 'bmad', arguments: args })) transport.onmessage?.(message);
  await answer;
  await server.close();
}

function messages(era: Era, call: Record<string, unknown>): JSONRPCMessage[] {
  const called = (params: Record<string, unknown>): JSONRPCMessage => ({
    jsonrpc: '2.0',
    id: CALL_ID,
    method: 'tools/call',
    params,
  });
  if (era === 'modern')
    return [
      called({
        ...call,
        _meta: {
          [PROTOCOL_VERSION_META_KEY]: MODERN_VERSION,
          [CLIENT_INFO_META_KEY]: clientInfo,
          [CLIENT_CAPABILITIES_META_KEY]: {},
        },
      }),
    ];
  const params = { protocolVersion: LATEST_PROTOCOL_VERSION, capabilities: {}, clientInfo };
  return [
    { jsonrpc: '2.0', id: 1, method: 'initialize', params },
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    called(call),
  ];
}
