import { join } from 'node:path';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { contextIn, repository, temporaryFolder } from './app.ts';
import { openTab, type Misdeeds } from './browser.ts';
import { pageDoor, type PageDoor } from './page-door.ts';
import { fillPageProject, noCache, type PageProject } from './page-project.ts';

export interface ServedPage {
  context: Awaited<ReturnType<typeof contextIn>>;
  door: PageDoor;
  project: PageProject;
  /** What a program gets that calls the same server. */
  ask<T>(operation: string, args?: object): Promise<T>;
  tasks(): Promise<{ task_id: string; output_key: string; status: string }[]>;
  /** A person who has come in by a link, in a browser of their own. */
  person(browser: Browser, options?: BrowserContextOptions): Promise<Person>;
}

export interface Person {
  context: BrowserContext;
  page: Page;
  misdeeds: Misdeeds;
  /** Opens a view and waits until nothing of it is loading. */
  see(address: string): Promise<void>;
}

/** The built page over a project after some weeks of use, served as `bmad page` does, in this process. */
export async function servePage(onEnd: (cleanUp: () => Promise<void>) => void): Promise<ServedPage> {
  // The folder's name is the project's, which is shown.
  const folder = join(await temporaryFolder(onEnd), 'shop');
  const project = await fillPageProject(folder, await temporaryFolder(onEnd));
  const context = await contextIn(project.folder, {
    home: project.home,
    env: { PATH: process.env['PATH'] },
    flags: noCache(folder),
  });
  onEnd(async () => context.close());
  context.stay();
  const door = await pageDoor(context, onEnd, {
    state: join(project.home, 'state'),
    folder: join(repository, 'dist', 'page'),
  });
  const ask = async <T>(operation: string, args: object = {}): Promise<T> => {
    const response = await fetch(`${door.origin}/api/${operation}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(args),
    });
    return ((await response.json()) as { data: T }).data;
  };
  return {
    context,
    door,
    project,
    ask,
    tasks: async () =>
      (await ask<{ tasks: Awaited<ReturnType<ServedPage['tasks']>> }>('task_list', { status: 'all' })).tasks,
    async person(browser, options = {}) {
      const own = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
      const { page, misdeeds } = await openTab(own, door.origin);
      const { key } = await door.link();
      await page.goto(`${door.origin}/page/enter?key=${key}`);
      return { context: own, page, misdeeds, see: (address) => seen(page, address) };
    },
  };
}

async function seen(page: Page, address: string): Promise<void> {
  // As a text: this side knows no browser.
  await page.evaluate(`location.hash = ${JSON.stringify(address)}`);
  await settled(page);
}

/** Whatever is read when a view opens has been read. */
export async function settled(page: Page): Promise<void> {
  await page.locator('main h1').first().waitFor();
  await page.locator('main .loading').first().waitFor({ state: 'detached' });
}
