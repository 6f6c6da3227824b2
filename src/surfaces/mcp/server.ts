import { McpServer, type McpServerFactory, type ServerContext } from '@modelcontextprotocol/server';
import { PRODUCT, SERVER_PROGRAM, VERSION } from '../../base/product.ts';
import type { Call, Context } from '../../operations/context.ts';
import { completeArgument } from './completions.ts';
import { INSTRUCTIONS } from './instructions.ts';
import { getPrompt, promptList } from './prompts.ts';
import { resourceList, resourceRead, templateList } from './resources.ts';
import { callTool, toolList } from './tools.ts';

const LISTS = { ttlMs: 60_000, cacheScope: 'private' } as const;

/**
 * Makes one MCP server for one connection, of either protocol era. The handlers are set on the SDK's inner server:
 * prompts and resources come from the catalogue, which is not read before somebody asks for them.
 */
export function mcpServerFactory(context: Context): McpServerFactory {
  return () => {
    const mcp = new McpServer(
      { name: SERVER_PROGRAM, title: PRODUCT, version: VERSION },
      {
        instructions: INSTRUCTIONS,
        capabilities: { tools: {}, prompts: {}, resources: {}, completions: {} },
        cacheHints: {
          'tools/list': LISTS,
          'prompts/list': LISTS,
          'resources/list': LISTS,
          'resources/templates/list': LISTS,
        },
      },
    );
    const { server } = mcp;
    server.setRequestHandler('tools/list', () => ({ tools: toolList() }));
    server.setRequestHandler('tools/call', ({ params }, sdk) =>
      callTool(params.name, params.arguments, context, callOf(sdk)),
    );
    server.setRequestHandler('prompts/list', ({ params }, sdk) =>
      promptList(params?.cursor, context, callOf(sdk)),
    );
    server.setRequestHandler('prompts/get', ({ params }, sdk) =>
      getPrompt(params.name, params.arguments ?? {}, context, callOf(sdk)),
    );
    server.setRequestHandler('resources/list', ({ params }, sdk) =>
      resourceList(params?.cursor, context, callOf(sdk)),
    );
    server.setRequestHandler('resources/templates/list', () => templateList());
    server.setRequestHandler('resources/read', ({ params }, sdk) =>
      resourceRead(params.uri, context, callOf(sdk)),
    );
    server.setRequestHandler('completion/complete', ({ params }, sdk) =>
      completeArgument(params, context, callOf(sdk)),
    );
    return mcp;
  };
}

/** What a request brings along: its abort signal, and progress if the client asked for it. */
function callOf({ mcpReq }: ServerContext): Call {
  const progressToken = mcpReq._meta?.progressToken;
  let progress = 0;
  return {
    surface: 'mcp',
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
