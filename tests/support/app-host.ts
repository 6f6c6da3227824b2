import { build } from 'esbuild';
import type { Client } from '@modelcontextprotocol/client';
import type { Browser, FrameLocator, Page } from 'playwright-core';
import { axeFindings, openTab, type Misdeeds } from './browser.ts';
import { repository } from './app.ts';

/** The host's half of the bridge, as ext-apps has it; what it needs of this process is handed in by name. */
const HOST = `
import { AppBridge, PostMessageTransport } from '@modelcontextprotocol/ext-apps/app-bridge';
globalThis.openApp = async ({ html, tool, args, context }) => {
  const frame = document.createElement('iframe');
  frame.sandbox = 'allow-scripts';
  frame.title = 'app';
  document.body.replaceChildren(frame);
  const bridge = new AppBridge(null, { name: 'host', version: '1' }, { serverTools: {}, message: { text: {} } }, {
    hostContext: { ...context, toolInfo: { tool } },
  });
  bridge.oncalltool = (params) => globalThis.callTool(params);
  bridge.onmessage = async ({ content }) => (await globalThis.confirmed(content[0].text)) ? {} : { isError: true };
  bridge.onsizechange = ({ height }) => { frame.style.height = height + 'px'; };
  const ready = new Promise((resolve) => { bridge.oninitialized = resolve; });
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
  frame.srcdoc = html;
  await ready;
  await bridge.sendToolInput({ arguments: args });
  await bridge.sendToolResult(await globalThis.callTool({ name: tool.name, arguments: args }));
};`;

/** What hosts allow an app that asks for nothing. */
const POLICY =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'none'";

export interface AppHost {
  page: Page;
  app: FrameLocator;
  misdeeds: Misdeeds;
  /** What the app has put into the conversation. */
  said: string[];
  /** Whether the person at the host lets it. */
  confirms: boolean;
  open(tool: string, args?: object, context?: object): Promise<void>;
  /** What axe finds inside of the app. */
  axe(): Promise<string[]>;
}

/** A host in a real browser that shows the app of a server, with its calls relayed to that server. */
export async function openHost(browser: Browser, client: Client): Promise<AppHost> {
  const { outputFiles } = await build({
    stdin: { contents: HOST, resolveDir: repository },
    bundle: true,
    write: false,
    format: 'iife',
    logLevel: 'error',
  });
  const { page, misdeeds } = await openTab(await browser.newContext(), 'about:blank');
  const host: AppHost = {
    page,
    app: page.frameLocator('iframe'),
    misdeeds,
    said: [],
    axe: () => axeFindings(page.frames()[1] ?? page),
    confirms: true,
    async open(tool, args = {}, context = {}) {
      const { contents } = await client.readResource({ uri: 'ui://bmad/board.html' });
      const text = (contents[0] as { text: string }).text.replace(
        '<head>',
        `<head><meta http-equiv="content-security-policy" content="${POLICY}">`,
      );
      const found = (await client.listTools()).tools.find(({ name }) => name === tool);
      // As a text: the types of what a tool may be are too deep to be handed over.
      const given = JSON.stringify({ html: text, tool: found, args, context });
      await page.evaluate(`openApp(${given})`);
    },
  };
  await page.exposeFunction('callTool', (params: Parameters<Client['callTool']>[0]) =>
    client.callTool(params),
  );
  await page.exposeFunction('confirmed', (text: string) => {
    if (host.confirms) host.said.push(text);
    return host.confirms;
  });
  await page.setContent('<!doctype html><html lang="en"><title>Host</title><body></body></html>');
  await page.addScriptTag({ content: outputFiles[0]?.text ?? '' });
  return host;
}
