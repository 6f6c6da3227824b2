import { fileURLToPath } from 'node:url';
import {
  McpServer,
  type McpServerFactory,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { PRODUCT, SERVER_PROGRAM, VERSION } from '../../base/product.ts';
import type { Call, Context } from '../../operations/context.ts';
import { completeArgument } from './completions.ts';
import { INSTRUCTIONS } from './instructions.ts';
import { answer, completeParams, pageParams, promptParams, readParams } from './params.ts';
import { getPrompt, promptList } from './prompts.ts';
import { resourceList, resourceRead, templateList } from './resources.ts';
import { callTool, toolList } from './tools.ts';

const FIXED = { listChanged: false };
const LISTS = { ttlMs: 60_000, cacheScope: 'private' } as const;

/**
 * Makes one MCP server for one connection, of either protocol era. The handlers are set on the SDK's inner server:
 * prompts and resources come from the catalogue, which is not read before somebody asks for them.
 */
export function mcpServerFactory(context: Context): McpServerFactory {
  return ({ requestInfo }) => {
    const mcp = new McpServer(
      { name: SERVER_PROGRAM, title: PRODUCT, version: VERSION },
      {
        instructions: INSTRUCTIONS,
        // The lists stay the same while a connection lasts; the SDK would promise to tell of changes.
        capabilities: { tools: FIXED, prompts: FIXED, resources: FIXED, completions: {} },
        cacheHints: {
          'tools/list': LISTS,
          'prompts/list': LISTS,
          'resources/list': LISTS,
          'resources/templates/list': LISTS,
        },
      },
    );
    const { server } = mcp;
    answer(server, 'tools/list', pageParams, () => ({ tools: toolList() }));
    server.setRequestHandler('tools/call', ({ params }, sdk) =>
      callTool(params.name, params.arguments, context, callOf(sdk)),
    );
    answer(server, 'prompts/list', pageParams, ({ cursor }, sdk) => promptList(cursor, context, callOf(sdk)));
    answer(server, 'prompts/get', promptParams, (params, sdk) =>
      getPrompt(params.name, params.arguments ?? {}, context, callOf(sdk)),
    );
    answer(server, 'resources/list', pageParams, ({ cursor }, sdk) =>
      resourceList(cursor, context, callOf(sdk)),
    );
    answer(server, 'resources/templates/list', pageParams, () => templateList());
    answer(server, 'resources/read', readParams, ({ uri }, sdk) => resourceRead(uri, context, callOf(sdk)));
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

async function clientRoots(server: Server): Promise<string[]> {
  const { roots } = await server.listRoots();
  return roots.flatMap(({ uri }) => (uri.startsWith('file://') ? [fileURLToPath(uri)] : []));
}

/** What a request brings along: its abort signal, and progress if the client asked for it. */
function callOf({ mcpReq }: ServerContext): Call {
  const progressToken = mcpReq._meta?.progressToken;
  let progress = 0;
  return {
    signal: mcpReq.signal,
    progress(message) {
      if (progressToken === undefined) return;
      progress += 1;
      mcpReq
        .notify({ method: 'notifications/progress', params: { progressToken, progress, message } })
        .catch(() => undefined);
    },
  };
}
