import { fileURLToPath } from 'node:url';
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  McpServer,
  type McpServerFactory,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { foreignCursor } from '../../base/text/paging.ts';
import { PRODUCT, SERVER_PROGRAM, VERSION } from '../../base/product.ts';
import type { Call, Context } from '../../operations/context.ts';
import { completeArgument, getPrompt, promptList } from './prompts.ts';
import { instructionsFor } from './instructions.ts';
import {
  answer,
  callerIn,
  completeParams,
  pageParams,
  promptParams,
  protocolError,
  readParams,
} from './requests.ts';
import { answerSkills, resourceList, resourceRead, SKILLS_CAPABILITY, templateList } from './resources.ts';
import type { Idle } from './idle.ts';
import { type Conversation, conversationsByClient, enveloped, newConversation } from './conversations.ts';
import { askingCall, type RunCall, type StateCodec } from './sampling.ts';
import { showsApps } from './early.ts';
import type { AnswerCall } from './short-way.ts';
import { callTool, toolList } from './tools.ts';
import { traceRequests } from './traces.ts';
import { type ListName, notifierOf, type Watch, watchChanges } from './watch.ts';

const FIXED = { listChanged: false };
const CHANGING = { listChanged: true };
const LISTS = { ttlMs: 60_000, cacheScope: 'private' } as const;

export interface FactoryOptions {
  /**
   * Watches for changes on behalf of a server's client, until its creator closes it. Servers that live for one request
   * only share one: their entry point announces changes for all of them.
   */
  watchFor?: (server: Server) => Watch;
  /** Hears how calls of tools are answered, where nothing has to see them on their way through the SDK. */
  answers?: (server: Server, answer: AnswerCall) => void;
  /** What may be answered without being run again. */
  /** Hears when the tools are listed. */
  idle?: Pick<Idle, 'listed'>;
  /** What seals the state that clients carry from one round of a call to the next, where there are several callers. */
  codec?: StateCodec;
  /** Fires when the answers of clients do not come in any more, though what runs is still finished. */
  ending?: AbortSignal;
  /** Fires when the client has left, so that nobody waits for what takes long. */
  left?: AbortSignal;
}

/**
 * Creates one MCP server for one connection, of either protocol era. The handlers are set on the SDK's inner server:
 * prompts and resources come from the catalogue, which is not read before a client asks for them.
 */
export function mcpServerFactory(
  context: Context,
  {
    watchFor = (server) => ownWatch(server, context),
    answers,
    idle,
    codec,
    ending,
    left,
  }: FactoryOptions = {},
): McpServerFactory {
  const byClient = conversationsByClient();
  return ({ era, requestInfo }) => {
    // Calls of the 2026 protocol stand each for itself.
    const own = newConversation();
    // A server of the 2026 protocol over HTTP lives for one request.
    const conversationOf = (sdk: ServerContext): Conversation =>
      era === 'modern' && requestInfo !== undefined ? byClient(sdk) : own;
    const asking = (sdk: ServerContext): RunCall =>
      askingCall(
        { ...callOf(sdk), host: hostOf(sdk, server), left },
        sdk,
        server,
        era,
        conversationOf(sdk),
        codec,
        ending,
      );
    const mcp = new McpServer(
      { name: SERVER_PROGRAM, title: PRODUCT, version: VERSION },
      {
        instructions: context.worded(instructionsFor(context.tools)),
        capabilities: {
          // Only the tools of agents depend on the content; a list without them stays the same.
          tools: context.tools.agents ? CHANGING : FIXED,
          prompts: CHANGING,
          resources: { ...CHANGING, subscribe: true },
          completions: {},
          extensions: SKILLS_CAPABILITY,
        },
        cacheHints: {
          'tools/list': LISTS,
          'prompts/list': LISTS,
          'resources/list': LISTS,
          'resources/templates/list': LISTS,
        },
        ...(codec === undefined ? {} : { requestState: { verify: codec.verify } }),
      },
    );
    const { server } = mcp;
    if (context.tracing !== undefined) traceRequests(server, context.tracing, context);
    const watch = watchFor(server);
    const seen = (list: ListName, sdk: ServerContext): Promise<void> =>
      watch.seen({ list, host: hostOf(sdk, server) }, era === 'modern');
    answer(server, 'tools/list', pageParams, async ({ cursor }, sdk) => {
      if (cursor !== undefined) throw protocolError(foreignCursor());
      idle?.listed();
      await seen('tools', sdk);
      // Where a request does not say who sends it, its answer is kept for whoever comes next.
      const host = era === 'modern' ? hostOf(sdk, server) : undefined;
      const capabilities =
        era === 'legacy'
          ? server.getClientCapabilities()
          : enveloped(sdk.mcpReq)[CLIENT_CAPABILITIES_META_KEY];
      return { tools: await toolList(context, { ...callOf(sdk), host }, showsApps(capabilities)) };
    });
    const answerCall: AnswerCall = (name, args, sdk) =>
      asking(sdk)((call) => callTool(name, args, context, call));
    server.setRequestHandler('tools/call', ({ params }, sdk) =>
      answerCall(params.name, params.arguments, sdk),
    );
    if (context.tracing === undefined) answers?.(server, answerCall);
    answer(server, 'prompts/list', pageParams, async ({ cursor }, sdk) => {
      await seen('prompts', sdk);
      return promptList(cursor, context, callOf(sdk), hostOf(sdk, server));
    });
    answer(server, 'prompts/get', promptParams, (params, sdk) =>
      asking(sdk)((call) => getPrompt(params.name, params.arguments ?? {}, context, call)),
    );
    answer(server, 'resources/list', pageParams, async ({ cursor }, sdk) => {
      await seen('resources', sdk);
      return resourceList(cursor, context, callOf(sdk));
    });
    answer(server, 'resources/templates/list', pageParams, () => templateList());
    answer(server, 'resources/read', readParams, ({ uri }, sdk) => resourceRead(uri, context, callOf(sdk)));
    // Skills are resources; a client hears of both in the same words.
    answerSkills(server, era, context, callOf, (sdk) => seen('resources', sdk));
    if (era === 'legacy') answerSubscriptions(server, watch);
    answer(server, 'completion/complete', completeParams, (params, sdk) =>
      completeArgument(params, context, callOf(sdk)),
    );
    // Clients of the 2025 protocol can be asked where they work; later ones name the project in the call. Over HTTP
    // there are many at once, and none may move the others to its folder.
    server.oninitialized = () => {
      if (requestInfo === undefined && server.getClientCapabilities()?.roots !== undefined)
        context.offerRoots(clientRoots(server));
    };
    return mcp;
  };
}

/** What the client calls itself: with each request in the 2026 protocol, once before it. */
function hostOf({ mcpReq }: ServerContext, server: Server): string | undefined {
  const info = enveloped(mcpReq)[CLIENT_INFO_META_KEY] ?? server.getClientVersion();
  const { name } = (info ?? {}) as { name?: unknown };
  return typeof name === 'string' ? name.slice(0, 100) : undefined;
}

/** A watch that ends with its server. */
function ownWatch(server: Server, context: Context): Watch {
  const watch = watchChanges(
    context,
    notifierOf(() => server),
  );
  server.onclose = () => watch.close();
  return watch;
}

/** Clients of the 2025 protocol subscribe to one resource after the other. */
function answerSubscriptions(server: Server, watch: Watch): void {
  answer(server, 'resources/subscribe', readParams, async ({ uri }, sdk) => {
    await watch.subscribe(uri, callOf(sdk));
    return {};
  });
  answer(server, 'resources/unsubscribe', readParams, async ({ uri }) => {
    await watch.unsubscribe(uri);
    return {};
  });
}

async function clientRoots(server: Server): Promise<string[]> {
  const { roots } = await server.listRoots();
  return roots.flatMap(({ uri }) => (uri.startsWith('file://') ? [fileURLToPath(uri)] : []));
}

/** By what a client knows a call again that it may send a second time. */
const KEY_META_KEY = 'bmad/idempotencyKey';

/** What a request brings along: its abort signal, who sent it, and progress if the client asked for it. */
function callOf({ mcpReq, http, sessionId }: ServerContext): Call {
  const { progressToken, [KEY_META_KEY]: key } = mcpReq._meta ?? {};
  let progress = 0;
  return {
    signal: mcpReq.signal,
    ...(typeof key === 'string' ? { key } : {}),
    ...(sessionId === undefined ? {} : { session: sessionId }),
    ...(http === undefined ? {} : callerIn(http.authInfo)),
    progress(message) {
      if (progressToken === undefined) return;
      progress += 1;
      mcpReq
        .notify({ method: 'notifications/progress', params: { progressToken, progress, message } })
        .catch(() => undefined);
    },
  };
}
