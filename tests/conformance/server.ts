import { dirname, join } from 'node:path';
import type { ServerNotifier } from '@modelcontextprotocol/server';
import { createContext } from '../../src/app.ts';
import { serveHttp, type HttpServing } from '../../src/surfaces/mcp/http/serve.ts';
import { withFixtures } from './fixtures/index.ts';

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
  let serving: HttpServing | undefined;
  const notify = (): ServerNotifier => {
    if (serving === undefined) throw new Error('The server is not up yet.');
    return serving.notify;
  };
  serving = await serveHttp(context, { port: 0, extend: (factory) => withFixtures(factory, notify) });
  process.stderr.write(`serves ${serving.url}\n`);
}

const [contentRoot = '', folder = ''] = process.argv.slice(2);
void main(contentRoot, folder);
