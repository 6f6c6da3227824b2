import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Browser, Page } from 'playwright-core';
import { contextIn, repository, temporaryFolder } from '../support/app.ts';
import { axeFindings, openTab, startBrowser } from '../support/browser.ts';
import { sourcesUpdate } from '../../src/operations/git-sources/sources.ts';
import { writeFiles } from '../support/folders.ts';
import { GitMachine } from '../support/git-machine.ts';
import { agentFile } from '../support/git-repository.ts';
import { pageDoor, type PageDoor } from '../support/page-door.ts';
import { impl, story } from '../support/progress-trees/pieces.ts';
import { some } from '../support/how-much.ts';

let browser: Browser;
let door: PageDoor;
let state: string;
let folder: string;
let context: Awaited<ReturnType<typeof contextIn>>;

const pageFolder = join(repository, 'dist', 'page');

beforeAll(async () => {
  browser = await startBrowser(afterAll);
  [folder, state] = [await temporaryFolder(afterAll), await temporaryFolder(afterAll)];
  context = await contextIn(folder);
  context.stay();
  afterAll(() => context.close());
  door = await pageDoor(context, afterAll, { state, folder: pageFolder });
});

async function tab(): Promise<Page> {
  return (await openTab(await browser.newContext(), door.origin)).page;
}

async function linkTo({ origin, link }: PageDoor): Promise<string> {
  return `${origin}/page/enter?key=${(await link()).key}`;
}

describe('who may look at the page', () => {
  it('shows nothing of the project without a session, and how to get one', async () => {
    const page = await tab();
    await page.goto(`${door.origin}/`);
    await page.getByRole('heading', { name: 'You are not signed in' }).waitFor();
    expect(await page.locator('code').allInnerTexts()).toEqual(['bmad page']);
    expect(await axeFindings(page)).toEqual([]);
    await page.context().close();
  });

  it('refuses a link that was used, and one that was made up', async () => {
    const link = await linkTo(door);
    const [first, second] = [await tab(), await tab()];
    await first.goto(link);
    await first.getByRole('heading', { name: 'Waiting for you' }).waitFor();
    for (const address of [link, `${door.origin}/page/enter?key=made-up`]) {
      const answer = await second.goto(address);
      expect(answer?.status()).toBe(403);
      await second.getByRole('heading', { name: 'This link does not work any more' }).waitFor();
      expect(await axeFindings(second)).toEqual([]);
      await second.goto(`${door.origin}/`);
      await second.getByRole('heading', { name: 'You are not signed in' }).waitFor();
    }
    await Promise.all([first.context().close(), second.context().close()]);
  });

  it('shows empty views in an empty project, each with a sentence', async () => {
    const page = await tab();
    await page.goto(await linkTo(door));
    const sentences = {
      inbox: 'Nothing waits for you.',
      board: 'No ledger and no story files yet.',
      runs: 'No workflow has been run yet.',
      tasks: 'The queue is empty.',
      proof: 'No contract has been run yet.',
      handover: 'No delivery contract yet.',
      memory: 'Nothing is remembered yet.',
      failures: 'The museum is empty.',
      sources: 'No git sources are configured.',
    };
    for (const [view, sentence] of Object.entries(sentences)) {
      await page.evaluate(`location.hash = '#/${view}'`);
      await page.getByText(sentence).first().waitFor();
    }
    expect(await page.locator('[role=alert]').count()).toBe(0);
    await page.context().close();
  });

  it('ends with the session that is revoked, at the next call', async () => {
    const page = await tab();
    await page.goto(await linkTo(door));
    await page.getByRole('heading', { name: 'Waiting for you' }).waitFor();
    for (const { id } of await door.passes.list()) await door.passes.revoke(id);
    // What was still being read when the session ended may have said so before.
    await page.evaluate(`location.hash = '#/memory'`);
    await page.getByRole('heading', { name: 'You are not signed in' }).waitFor();
    expect(await page.locator('nav').count()).toBe(0);
    await page.context().close();
  });

  it('shows the other project that was chosen, and every address from then on is of that one', async () => {
    const other = join(await temporaryFolder(afterAll), 'stall');
    await writeFiles(other, { [`${impl}/1-1-first.md`]: story('1.1', 'in-progress') });
    const both = await pageDoor(context, afterAll, { state, folder: pageFolder, others: [other] });
    const page = await tab();
    await page.goto(await linkTo(both));
    // Without a choice it is that of the server, and its address says so.
    await expect.poll(() => page.url()).toContain(encodeURIComponent(folder));
    await page.locator('.side summary').click();
    await page.getByRole('link', { name: 'stall' }).click();
    await page.getByRole('link', { name: 'Board' }).click();
    await page.getByText('1.1 First').waitFor();
    expect(new URL(page.url()).hash).toContain(encodeURIComponent(other));
    expect(await page.title()).toBe('stall · Board');
    await page.context().close();
  });

  it('opens the project that the link was made in, and says which it is in the tab', async () => {
    const other = join(await temporaryFolder(afterAll), 'kiosk');
    await writeFiles(other, { [`${impl}/1-1-first.md`]: story('1.1', 'in-progress') });
    const both = await pageDoor(context, afterAll, { state, folder: pageFolder, others: [other] });
    const page = await tab();
    await page.goto(`${await linkTo(both)}&${new URLSearchParams({ project: other }).toString()}`);
    await expect.poll(() => page.title()).toBe('kiosk · Inbox');
    expect(await page.locator('link[rel=icon]').getAttribute('href')).toContain('data:image/svg+xml');
    await page.context().close();
  });

  const MOVED: [old: string, now: string][] = [
    ['next', 'now'],
    ['tasks?status=queued', 'now/tasks'],
    ['runs/x-1', 'now/runs/x-1'],
    ['handover', 'proof/handover'],
    ['failures', 'memory/failures'],
    ['sources', 'catalogue/sources'],
  ];
  it.each(some(2, MOVED))('shows what an earlier version had at #/%s where it is now', async (old, now) => {
    const page = await tab();
    await page.goto(await linkTo(door));
    await page.getByRole('heading', { name: 'Waiting for you' }).waitFor();
    await page.evaluate(`location.hash = '#/${old}'`);
    const [view = '', part] = now.split('/');
    const current = page.locator(`nav a[aria-current=page]`);
    await current.first().waitFor();
    await expect.poll(() => page.url()).toContain(`#/${now}`);
    expect(await page.locator('.side a[aria-current=page]').getAttribute('href')).toContain(`#/${view}`);
    if (part !== undefined)
      expect(await page.locator('.seg a[aria-current=page]').getAttribute('href')).toContain(`/${part}`);
    await page.context().close();
  });

  it('approves the commit of a source whose change was shown', async () => {
    const machine = await GitMachine.make(afterAll);
    const team = await machine.repository('team', { 'agents/ada.md': agentFile('ada', 'First', 'One.') });
    await machine.write(machine.config, `git = ["${team.source}#main"]\n`);
    await machine.ok(sourcesUpdate);
    const commit = await team.commit({ 'agents/ada.md': agentFile('ada', 'Next', 'Two.') });
    await machine.ok(sourcesUpdate);
    const own = await contextIn(machine.project, { env: machine.env(), home: machine.home });
    afterAll(() => own.close());
    const page = await tab();
    await page.goto(await linkTo(await pageDoor(own, afterAll, { state, folder: pageFolder })));
    await page.getByRole('link', { name: 'Catalogue' }).click();
    await page.getByRole('link', { name: 'Sources' }).click();
    await page.locator('.diff', { hasText: 'Two.' }).waitFor();
    await page.getByRole('button', { name: /^Approve/ }).click();
    await page.getByRole('button', { name: 'Yes, do it' }).click();
    await page.locator('.diff').waitFor({ state: 'detached' });
    expect(Object.values(await machine.pins()).map((pin) => pin.commit)).toEqual([commit]);
    await page.context().close();
  });

  it('says that the server is gone, and goes on by itself when it is back', async () => {
    const ends: (() => Promise<void>)[] = [];
    const first = await pageDoor(context, (end) => ends.push(end), { state, folder: pageFolder });
    const page = await tab();
    await page.goto(await linkTo(first));
    await page.locator('.side .dot.live').waitFor();
    for (const end of ends) await end();
    await page.getByText('Connection lost; trying again …').waitFor();
    await pageDoor(context, afterAll, {
      state,
      folder: pageFolder,
      port: Number(new URL(first.origin).port),
    });
    await page.locator('.side .dot.live').waitFor();
    await page.getByRole('link', { name: 'Board' }).click();
    await page.getByText('No ledger and no story files yet.').waitFor();
    expect(await page.getByText('Connection lost').count()).toBe(0);
    await page.context().close();
  });
});
