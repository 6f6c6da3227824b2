import { AgentCard, A2A_VERSION_HEADER, AGENT_CARD_PATH } from '@a2a-js/sdk';
import { JsonRpcTransportHandler, ServerCallContext, type A2ARequestHandler } from '@a2a-js/sdk/server';
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import { randomBytes } from 'node:crypto';
import { refuseAsProblem, refuseAsRpc } from '../../base/http/http-refusals.ts';
import { callerKey, type Caller, type Exchange, type HttpRoute } from '../../base/http/http-route.ts';
import { createShares } from '../../base/http/shares.ts';
import type { Call, Context } from '../../operations/context.ts';
import { describeAgents, type DescribedAgent } from '../../operations/catalogue/describe-agents.ts';
import { execute } from '../../operations/execute.ts';
import { agentCard, MOST_SKILLS } from './card.ts';
import { dataOf } from './errors.ts';
import { eventResponse } from './events.ts';
import { createHandler } from './handler.ts';
import { requesterOf } from './requester.ts';
import { spoken, type Spoken } from './spoken.ts';

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

export interface A2aOptions {
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
    if (WRITING.test(said.method) && !caller.mayWrite)
      return failure(
        said.id,
        UNSUPPORTED,
        'This token is read-only and cannot send messages.',
        403,
        caller.challenge,
      );
    return speak(said, exchange);
  }

  async function speak(said: Spoken, exchange: Exchange): Promise<Response> {
    const call = {
      ...callOf(exchange.caller, AbortSignal.any([exchange.over, closing.signal])),
      requester: await requesterOf(exchange.caller),
    };
    const told = new Set<string>();
    const handler = createHandler({ context, call, card: () => cardFor(exchange, call), told });
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
      return Response.json(error === undefined ? reply : { ...reply, error: masked(error) });
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
      return Response.json({ jsonrpc: '2.0', ...failed(error) });
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
  const { mayWrite } = caller;
  return { signal, progress: () => undefined, overHttp: true, caller: callerKey(caller), mayWrite };
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
