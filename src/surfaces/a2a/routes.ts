import { randomBytes, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import {
  A2A_VERSION_HEADER,
  AGENT_CARD_PATH,
  AgentCard,
  formatSSEErrorEvent,
  formatSSEEvent,
  SSE_HEADERS,
  type AgentSkill,
} from '@a2a-js/sdk';
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import { type A2ARequestHandler, JsonRpcTransportHandler, ServerCallContext } from '@a2a-js/sdk/server';
import {
  type Caller,
  callerKey,
  type Exchange,
  type HttpRoute,
  refuseAsProblem,
  refuseAsRpc,
} from '../../base/http/http-route.ts';
import { createShares } from '../../base/http/turns.ts';
import { createBounded } from '../../base/values.ts';
import { describeAgents, type DescribedAgent } from '../../operations/catalogue/records.ts';
import type { Call, Context, Requester } from '../../operations/context.ts';
import { type CallOutcome, execute } from '../../operations/execute.ts';
import { broughtBy, tellOfRefusal } from '../../operations/observed.ts';
import { outsideTaskAdd, outsideTaskCancel } from '../../operations/tasks/outside-tasks.ts';
import { createHandler, dataOf } from './handler.ts';
import { spoken, type Spoken } from './spoken.ts';
import { PRODUCT, VERSION } from '../../base/product.ts';
import { oneLine } from '../../base/text/text.ts';

const PATH = '/a2a';
const MOST_STREAMS = 100;
const INTERNAL_ERROR = -32_603;
const UNSUPPORTED = -32_004;
const WRITING = /^(?:Send(?:Streaming)?Message|CancelTask|message\/(?:send|stream)|tasks\/cancel)$/;
const JSON_TYPE = /^application\/(?:a2a\+)?json\s*(?:;|$)/i;

/** What the SDK answers with. */
interface Reply {
  id: string | number | null;
  error?: { code: number; message: string };
}

interface A2aOptions {
  /** Whether callers must identify themselves. If so, the card is still public, but without skills. */
  secured?: boolean;
  /** Where clients find the server when that is not where it listens, such as `https://bmad.example.org`. */
  address?: string | undefined;
}

/** Agent2Agent over the front door: the card that says who is here, and the place that messages go to. */
export function createA2aRoutes(
  context: Context,
  { secured = false, address }: A2aOptions = {},
): HttpRoute[] {
  const closing = new AbortController();
  const streams = createShares<Exchange>(MOST_STREAMS);
  let running = 0;

  async function cardFor({ request, caller }: Exchange, call: Call): Promise<AgentCard> {
    const { agents, total } = isStranger(caller, secured)
      ? { agents: [], total: 0 }
      : dataOf<{ agents: DescribedAgent[]; total: number }>(
          await execute(describeAgents, { limit: MOST_SKILLS }, context, call),
        );
    return agentCard({
      url: `${address ?? placeOf(request)}${PATH}`,
      agents,
      total,
      secured: secured || caller.known !== 'anonymous',
    });
  }

  async function showCard(exchange: Exchange): Promise<Response> {
    const card = await cardFor(exchange, callOf(exchange.caller, exchange.over));
    const newest = AgentCard.toJSON(card) as object;
    // Who names no version may read either: where the two differ, the older one is meant.
    const shown =
      exchange.request.headers.get(A2A_VERSION_HEADER)?.startsWith('1.') === true
        ? newest
        : { ...newest, ...(await olderCard(card)) };
    return Response.json(shown, { headers: { vary: A2A_VERSION_HEADER, 'cache-control': 'no-cache' } });
  }

  async function answer(exchange: Exchange): Promise<Response> {
    const { request, caller } = exchange;
    if (!JSON_TYPE.test(request.headers.get('content-type') ?? ''))
      return refuseAsRpc(415, 'Send application/json.');
    const said = spoken(new Uint8Array(await request.arrayBuffer()), request.headers.get(A2A_VERSION_HEADER));
    if ('code' in said) return failure(said.id, said.code, said.message, said.id === null ? 400 : 200);
    if (WRITING.test(said.method) && !caller.mayWrite) {
      const { name } = /cancel/i.test(said.method) ? outsideTaskCancel : outsideTaskAdd;
      await tellOfRefusal(context, name, broughtBy(caller));
      const why = 'This token is read-only and cannot send messages.';
      return failure(said.id, UNSUPPORTED, why, 403, caller.challenge);
    }
    return speak(said, exchange);
  }

  async function speak(said: Spoken, exchange: Exchange): Promise<Response> {
    const call = {
      ...callOf(exchange.caller, AbortSignal.any([exchange.over, closing.signal])),
      requester: await requesterOf(exchange.caller),
      key: exchange.request.headers.get('idempotency-key') ?? undefined,
    };
    const told = new Set<string>();
    const init: { status?: number; headers: Record<string, string> } = { headers: {} };
    const heard = (outcome: CallOutcome): void => {
      if (outcome.ok && outcome.before === true) init.headers['idempotency-replayed'] = 'true';
      if (outcome.ok) return;
      const { line, reason, seconds } = outcome.error;
      told.add(line);
      if (reason !== 'quota' || seconds === undefined) return;
      init.status = 429;
      init.headers['retry-after'] = String(seconds);
    };
    const handler = createHandler({ context, call, card: () => cardFor(exchange, call), heard });
    const newer = said.version === '1.0';
    const transport = newer
      ? new JsonRpcTransportHandler(handler)
      : new LegacyJsonRpcTransportHandler(handler);
    const masked = (error: { code: number; message: string }): { code: number; message: string } =>
      error.code !== INTERNAL_ERROR || told.has(error.message) ? error : hidden(error.message);
    const failed = (error: unknown): Reply => ({
      id: said.id,
      error: masked(
        newer
          ? JsonRpcTransportHandler.mapToJSONRPCError(error)
          : LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError(error),
      ),
    });
    const server = new ServerCallContext({ requestedVersion: said.version });
    const replied = await transport.handle(said.body, server);
    if (!(Symbol.asyncIterator in replied)) {
      const { error, ...reply } = replied as Reply;
      return Response.json(error === undefined ? reply : { ...reply, error: masked(error) }, init);
    }
    if (!streams.take(exchange, callerKey(exchange.caller)) || exchange.stays?.() === false) {
      streams.giveBack(exchange);
      await replied.return();
      const message = 'Too many streams are open. Close some of yours, or try again later.';
      return failure(said.id, INTERNAL_ERROR, message, 429);
    }
    try {
      // An error before the first event is a plain answer, not a stream.
      const first = await replied.next();
      return eventResponse({
        first: first.value,
        rest: replied,
        failed: (error) => (call.signal.aborted ? undefined : { jsonrpc: '2.0', ...failed(error) }),
        ended: () => streams.giveBack(exchange),
      });
    } catch (error) {
      streams.giveBack(exchange);
      return Response.json({ jsonrpc: '2.0', ...failed(error) }, init);
    }
  }

  function hidden(message: string): { code: number; message: string } {
    const id = randomBytes(4).toString('hex');
    context.log.error('incident', { id, name: 'a2a', error: message });
    return { code: INTERNAL_ERROR, message: `Something went wrong inside the server (incident ${id}).` };
  }

  const card = {
    methods: ['GET', 'HEAD'],
    part: 'a2a' as const,
    ...(secured ? { open: true as const } : {}),
    refuse: refuseAsProblem,
    handle: showCard,
  };
  return [
    { ...card, path: `/${AGENT_CARD_PATH}` },
    // Where readers of earlier versions look.
    { ...card, path: '/.well-known/agent.json' },
    {
      path: PATH,
      methods: ['POST'],
      checksDepth: true,
      part: 'a2a',
      refuse: refuseAsRpc,
      async handle(exchange) {
        running += 1;
        return answer(exchange).finally(() => (running -= 1));
      },
      // A stream is not: no one waits for its end.
      running: () => running,
      close() {
        closing.abort();
        return Promise.resolve();
      },
    },
  ];
}

/** Callers who have not identified themselves, where that is required: they learn how to, and nothing else. */
function isStranger({ known }: Caller, secured: boolean): boolean {
  return secured && known === 'anonymous';
}

function callOf(caller: Caller, signal: AbortSignal): Call {
  return { signal, progress: () => undefined, ...broughtBy(caller), person: false };
}

/** The name under which the client has reached us, which the front door has checked. */
function placeOf(request: Request): string {
  const own = new URL(request.url);
  const named = request.headers.get('host');
  return `${own.protocol}//${named ?? own.host}`;
}

/** The card as version 0.3 has it. The SDK gives it to those who ask for the card in a call of that version. */
async function olderCard(card: AgentCard): Promise<object> {
  const getter = () => Promise.resolve(card);
  const legacy = new LegacyJsonRpcTransportHandler({
    getAgentCard: getter,
    getAuthenticatedExtendedAgentCard: getter,
  } as unknown as A2ARequestHandler);
  const method = 'agent/getAuthenticatedExtendedCard';
  const reply = await legacy.handle({ jsonrpc: '2.0', id: 1, method }, new ServerCallContext());
  return (reply as { result: object }).result;
}

function failure(
  id: Reply['id'],
  code: number,
  message: string,
  status: number,
  challenge?: string,
): Response {
  const headers = challenge === undefined ? {} : { 'www-authenticate': challenge };
  return Response.json({ jsonrpc: '2.0', id, error: { code, message } }, { status, headers });
}

/** Sent while nothing happens, so that proxies do not take the connection for dead. */
const STILL_HERE = ':\n\n';
const STILL_HERE_MS = 15_000;

interface EventStream {
  /** The first event, which is known already. */
  first: unknown;
  rest: AsyncGenerator<unknown, void, undefined>;
  /** How an error is reported; undefined if no one is left to receive it. */
  failed(error: unknown): object | undefined;
  /** Called once, however it ends. */
  ended(): void;
}

/** A stream of events for a client that listens until the end. */
function eventResponse({ first, rest, failed, ended }: EventStream): Response {
  const encoder = new TextEncoder();
  let beat: NodeJS.Timeout | undefined;
  let isOver = false;
  // A client that leaves ends the stream, and then the wait for the next event fails too: that is one end.
  const over = (): void => {
    if (isOver) return;
    isOver = true;
    clearInterval(beat);
    ended();
  };
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(encoder.encode(formatSSEEvent(first)));
      beat = setInterval(() => controller.enqueue(encoder.encode(STILL_HERE)), STILL_HERE_MS);
      beat.unref();
    },
    async pull(controller) {
      const next = await rest.next().catch((error: unknown) => ({ error }));
      if (isOver) return;
      if ('error' in next) {
        const told = failed(next.error);
        if (told !== undefined) controller.enqueue(encoder.encode(formatSSEErrorEvent(told)));
      } else if (next.done !== true) {
        controller.enqueue(encoder.encode(formatSSEEvent(next.value)));
        return;
      }
      over();
      controller.close();
    },
    cancel() {
      over();
      // Not awaited: what it waits for ends with the exchange.
      void rest.return().catch(() => undefined);
    },
  });
  return new Response(body, { headers: SSE_HEADERS });
}

const MOST_KEPT = 1_000;
const marks = createBounded<Promise<string>>(MOST_KEPT);

/**
 * Who a caller is in the queue, the same for every server and after a restart. Those with a token for Agent2Agent alone see
 * only what is theirs. The mark is kept in the files of a project, which others may read: it takes long to make, so that
 * nobody can try out tokens against it.
 */
async function requesterOf(caller: Caller): Promise<Requester | undefined> {
  const key = callerKey(caller);
  return key === undefined ? undefined : { mark: await markOf(key), alone: caller.only !== undefined };
}

function markOf(key: string): Promise<string> {
  const known = marks.get(key);
  if (known !== undefined) return known;
  const made = slowHash(key).catch((error: unknown) => {
    marks.delete(key);
    throw error;
  });
  marks.set(key, made);
  return made;
}

async function slowHash(key: string): Promise<string> {
  const bytes = (await promisify(scrypt)(key, 'bmad a2a requester', 12)) as Buffer;
  return bytes.toString('hex');
}

interface CardFacts {
  /** Where the messages go. */
  url: string;
  agents: readonly DescribedAgent[];
  /** How many there are, also those that are not on the card. */
  total: number;
  /** Whether callers have to show who they are. */
  secured: boolean;
}

/** How many agents a card tells of: readers put the whole of it before a model. */
const MOST_SKILLS = 200;
const DESCRIPTION = 300;
const EXAMPLES = 4;
const EXAMPLE = 120;
const TEXT = ['text/markdown', 'text/plain'];

/** What the server is for other agents: one agent, each of whose skills is an agent of the catalogue. */
function agentCard({ url, agents, total, secured }: CardFacts): AgentCard {
  const more =
    total > agents.length
      ? ` ${agents.length} of ${total} agents are listed; the others can be named too.`
      : '';
  return {
    name: PRODUCT,
    description: `BMad Method agents that work for one project. A message becomes a task in the project’s queue, where a worker takes it or a person must approve it first. Name the agent in the message metadata ("skill" or "agent"), or let the text decide.${more}`,
    version: VERSION,
    supportedInterfaces: ['1.0', '0.3'].map((protocolVersion) => ({
      url,
      protocolBinding: 'JSONRPC',
      tenant: '',
      protocolVersion,
    })),
    provider: undefined,
    capabilities: { streaming: true, pushNotifications: false, extensions: [], extendedAgentCard: secured },
    securitySchemes: secured
      ? {
          bearer: {
            scheme: {
              $case: 'httpAuthSecurityScheme',
              value: { description: 'The server’s token.', scheme: 'Bearer', bearerFormat: '' },
            },
          },
        }
      : {},
    securityRequirements: secured ? [{ schemes: { bearer: { list: [] } } }] : [],
    defaultInputModes: [...TEXT, 'application/json'],
    defaultOutputModes: TEXT,
    skills: agents.map(skillOf),
    signatures: [],
  };
}

function skillOf(agent: DescribedAgent): AgentSkill {
  const { name, displayName, title, description, capabilities = [], module } = agent;
  const tags = new Set(['bmad', module ?? '', ...name.split(/[/-]/)].filter((tag) => tag !== ''));
  return {
    id: name,
    name: displayName === title ? title : `${displayName}, ${title}`,
    description: oneLine(description ?? title, DESCRIPTION),
    tags: [...tags],
    examples: capabilities.slice(0, EXAMPLES).map((text) => oneLine(text, EXAMPLE)),
    inputModes: [],
    outputModes: [],
    securityRequirements: [],
  };
}
