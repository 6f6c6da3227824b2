import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import axe from 'axe-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { debianProgram } from './debian.ts';

// An import would have its 3 MB searched for names of exports first.
const playwright = (): typeof import('playwright-core') =>
  createRequire(import.meta.url)('playwright-core') as typeof import('playwright-core');

/** A real browser for a file of tests; one is enough, since each context is a browser of its own to the page. */
export async function startBrowser(onEnd: (cleanUp: () => Promise<void>) => void): Promise<Browser> {
  const program = debianProgram('chromium');
  if (program === undefined)
    throw new Error(
      'These tests need Chromium: install the package "chromium", or run them as root on Debian.',
    );
  const executablePath = execFileSync('which', [program], { encoding: 'utf8' }).trim();
  const browser = await playwright().chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-lcd-text'],
  });
  onEnd(() => browser.close());
  return browser;
}

/** What a page did that it must not do. */
export interface Misdeeds {
  /** Violations of the policy, errors of scripts, warnings. */
  said: string[];
  /** Requests to any other place than its own. */
  foreign: string[];
}

export async function openTab(
  context: BrowserContext,
  origin: string,
): Promise<{ page: Page; misdeeds: Misdeeds }> {
  // What is awaited comes at once on an idle machine; on a busy one it may take its time.
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  const misdeeds: Misdeeds = { said: [], foreign: [] };
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) misdeeds.said.push(message.text());
  });
  page.on('pageerror', (error) => misdeeds.said.push(error.message));
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(`${origin}/`) && !url.startsWith('data:')) misdeeds.foreign.push(url);
  });
  return { page, misdeeds };
}

/** What axe finds, each with the first element that has it; only by some of its rules, where they are named. */
export async function axeFindings(page: Pick<Page, 'evaluate'>, rules?: string[]): Promise<string[]> {
  // Run by the debugger, not by the page: its policy would not allow it. The value is not asked for: all of axe would come back.
  if (!(await page.evaluate<boolean>(`'axe' in globalThis`)))
    await page.evaluate(`(() => { ${axe.source} })()`);
  return page.evaluate(async (only) => {
    const { axe: loaded } = globalThis as unknown as { axe: typeof axe };
    const { violations } = await loaded.run({
      resultTypes: ['violations'],
      ...(only === undefined ? {} : { runOnly: only }),
    });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.length}, ${nodes[0]?.html.slice(0, 200) ?? ''}`);
  }, rules);
}
