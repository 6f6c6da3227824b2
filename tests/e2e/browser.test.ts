import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../support/app.ts';
import { debianProgram } from '../support/debian.ts';
import { startHttpServer } from '../support/http-server.ts';

const chromium = debianProgram('chromium');
const cwd = await temporaryFolder(afterAll);
const home = await temporaryFolder(afterAll);
let server: { url: string };

beforeAll(async () => {
  const started = await startHttpServer({ cwd, home });
  server = started;
  return async () => void (await started.stop());
});

/** What a page tried, as it saw it: the status, or that the browser gave it nothing. */
type Seen = Record<string, string>;

const CALL = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/list',
  params: {
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
};
const HEADERS = {
  accept: 'application/json, text/event-stream',
  'content-type': 'application/json',
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/list',
};

/** A page that tries to reach the server in the ways a page has, and tells its own server what came of it. */
const pageFor = (url: string, report: string): string => `<!doctype html><script type="module">
const body = ${JSON.stringify(JSON.stringify(CALL))};
const ways = {
  call: { method: 'POST', headers: ${JSON.stringify(HEADERS)}, body },
  simple: { method: 'POST', headers: { 'content-type': 'text/plain' }, body },
  blind: { method: 'POST', mode: 'no-cors', body },
  stream: { headers: { accept: 'text/event-stream' } },
};
const seen = {};
for (const [way, init] of Object.entries(ways)) {
  try {
    const response = await fetch(${JSON.stringify(url)}, init);
    const text = await response.text();
    seen[way] = response.type === 'opaque' ? 'opaque' : response.status + ' ' + text;
  } catch { seen[way] = 'nothing'; }
}
await fetch(${JSON.stringify(report)}, { method: 'POST', mode: 'no-cors', body: JSON.stringify(seen) });
</script>`;

interface Site {
  port: number;
  seen: Promise<Seen>;
  /** What the server said to each request that came by here. */
  statuses: number[];
}

/**
 * The web server of somebody else's page. What is asked of it under /mcp it hands to our server with all headers, as if
 * its name had begun to lead there in between.
 */
async function siteFor(target: (port: number) => string): Promise<Site> {
  let told: (seen: Seen) => void = () => undefined;
  const seen = new Promise<Seen>((resolve) => {
    told = resolve;
  });
  const statuses: number[] = [];
  const http = createServer((incoming, outgoing) => {
    if (incoming.url === '/mcp') {
      const { method, headers } = incoming;
      const passed = request(server.url, { method, headers }, (answer) => {
        statuses.push(answer.statusCode ?? 0);
        outgoing.writeHead(answer.statusCode ?? 0, answer.headers);
        answer.pipe(outgoing);
      });
      incoming.pipe(passed);
    } else if (incoming.url === '/told') {
      void textOf(incoming).then((text) => told(JSON.parse(text) as Seen));
      outgoing.end();
    } else outgoing.setHeader('content-type', 'text/html').end(pageFor(target(portOf(http)), '/told'));
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  onTestFinished(() => {
    http.close();
    http.closeAllConnections();
  });
  return { port: portOf(http), seen, statuses };
}

const portOf = (http: Server): number => (http.address() as AddressInfo).port;

/** What the page sees in a browser for which every name that ends in `.test` leads to this machine. */
async function inBrowser(name: string, { port, seen }: Site): Promise<Seen> {
  const profile = await temporaryFolder(afterAll);
  const browser = spawn(
    chromium ?? '',
    [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--no-first-run',
      `--user-data-dir=${profile}`,
      '--host-resolver-rules=MAP *.test 127.0.0.1',
      `http://${name}:${port}/`,
    ],
    { stdio: 'ignore', env: { ...process.env, HOME: profile } },
  );
  const gone = once(browser, 'exit');
  try {
    return await Promise.race([
      seen,
      gone.then(([code]) => {
        throw new Error(`The browser ended with ${String(code)} before the page had said anything.`);
      }),
    ]);
  } finally {
    browser.kill('SIGKILL');
    await gone;
  }
}

describe.skipIf(chromium === undefined)('a page in a real browser', { timeout: 120_000 }, () => {
  it('of this machine is served', async () => {
    const site = await siteFor(() => '/mcp');
    expect((await inBrowser('localhost', site))['call']).toMatch(/^200 [^]*"result"/);
  });

  it('that leads its own name to this machine is refused', async () => {
    const site = await siteFor(() => '/mcp');
    const seen = await inBrowser('evil.test', site);
    expect(Object.keys(seen)).toEqual(['call', 'simple', 'blind', 'stream']);
    for (const answer of Object.values(seen)) expect(answer).toMatch(/^403 [^]*The Host header/);
  });

  it('of another origin is refused, however it asks, and sees nothing of the refusal', async () => {
    const site = await siteFor((port) => `http://127.0.0.1:${port}/mcp`);
    const nothing = { call: 'nothing', simple: 'nothing', blind: 'opaque', stream: 'nothing' };
    expect(await inBrowser('evil.test', site)).toEqual(nothing);
    // One of them was asked about first, which the server refuses as well.
    expect(site.statuses.length).toBeGreaterThanOrEqual(4);
    expect(new Set(site.statuses)).toEqual(new Set([403]));
  });
});
