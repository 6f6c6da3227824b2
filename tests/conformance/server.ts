import { dirname, join } from 'node:path';
import type { ServerNotifier } from '@modelcontextprotocol/server';
import { createContext } from '../../src/app/app.ts';
import { openFrontDoor } from '../../src/surfaces/http/front-door.ts';
import { createMcpRoute, type McpRoute } from '../../src/surfaces/mcp/http/route.ts';
import { withFixtures } from './fixtures/index.ts';
import { STATE_KEY } from './fixtures/input-tools.ts';

/**
 * The program the conformance suite talks to: the application, the server and the HTTP surface are the real ones, bundled
 * as the real programs are. It is never part of a package.
 */
async function main(contentRoot: string, folder: string): Promise<void> {
  const context = await createContext({
    flags: { paths: [folder] },
    presets: {},
    env: {},
    cwd: folder,
    home: join(dirname(folder), 'no-home'),
    platform: process.platform,
    contentRoot,
    serverCommand: [process.execPath],
    writeError: (text) => process.stderr.write(text),
    terminal: false,
    patient: false,
  });
  let mcp: McpRoute | undefined;
  const notify = (): ServerNotifier => {
    if (mcp === undefined) throw new Error('The server is not up yet.');
    return mcp.notify;
  };
  mcp = createMcpRoute(context, { key: STATE_KEY, extend: (factory) => withFixtures(factory, notify) });
  const { origin } = await openFrontDoor({ port: 0, routes: [mcp], log: context.log });
  process.stderr.write(`serves ${origin}${mcp.path}\n`);
}

const [contentRoot = '', folder = ''] = process.argv.slice(2);
void main(contentRoot, folder);
