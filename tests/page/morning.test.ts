import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Browser, Page } from 'playwright-core';
import { contextIn, repository, temporaryFolder, testCall } from '../support/app.ts';
import { axeFindings, openTab, startBrowser, type Misdeeds } from '../support/browser.ts';
import { noCache } from '../support/page-project.ts';
import { writeFiles } from '../support/folders.ts';
import { pageDoor, type PageDoor } from '../support/page-door.ts';
import type { Context } from '../../src/operations/context.ts';
import { execute } from '../../src/operations/execute.ts';
import type { AnyOperation } from '../../src/operations/operation.ts';
import { taskCancel } from '../../src/operations/tasks/task-work.ts';
import { spawnSubagentTask, taskList } from '../../src/operations/tasks/tasks.ts';

const DECISIONS = 12;
/** Titles that would take over a line, a direction or a button, if anything could. */
const HARD = [
  `Rename ${'the module of payments '.repeat(14)}`.slice(0, 300),
  'مراجعة واجهة السلة \u202Eevil\u202C قبل الجمعة',
  'Ca\u0301fe\u0301 Z\u0351\u036B\u0343\u036A\u0302a\u0303\u0306\u036Bl\u0350g\u0328\u0366o\u0346',
  'Approve 1   Refuse 2   [Yes, do it]   <button>Approve</button>',
];

let browser: Browser;
let door: PageDoor;
let page: Page;
let misdeeds: Misdeeds;
let context: Context;

async function called(operation: AnyOperation, input: object): Promise<Record<string, unknown>> {
  const outcome = await execute(operation, input, context, testCall());
  if (!outcome.ok) throw outcome.error;
  return outcome.data;
}

async function spawn(task: string, key: string): Promise<string> {
  const input = { agent: 'dev', task, output_key: key, needs_approval: 'It costs money.' };
  return ((await called(spawnSubagentTask, input))['task'] as { task_id: string }).task_id;
}

beforeAll(async () => {
  browser = await startBrowser(afterAll);
  const folder = join(await temporaryFolder(afterAll), 'shop');
  await mkdir(folder);
  await writeFiles(folder, { '_bmad-output/note.md': '# Shop\n', 'package.json': '{}\n' });
  context = await contextIn(folder, { flags: { embedder: 'none', ...noCache(folder) } });
  context.stay();
  afterAll(() => context.close());
  for (let index = 0; index < DECISIONS; index++)
    await spawn(HARD[index] ?? `Do number ${index}`, `key_${index}`);
  door = await pageDoor(context, afterAll, {
    state: await temporaryFolder(afterAll),
    folder: join(repository, 'dist', 'page'),
  });
  ({ page, misdeeds } = await openTab(
    await browser.newContext({ viewport: { width: 1280, height: 900 } }),
    door.origin,
  ));
  await page.goto(`${door.origin}/page/enter?key=${(await door.link()).key}`);
  await page
    .locator('[data-row]')
    .nth(DECISIONS - 1)
    .waitFor();
});

const count = (): Promise<number> => page.locator('[data-row]').count();

describe('a morning of decisions', () => {
  it('shows hard titles as they are: one line each, in their own direction, and no button among them', async () => {
    const rows = page.locator('[data-row]');
    const heights = await rows.evaluateAll((all) => all.map((row) => row.getBoundingClientRect().height));
    expect(new Set(heights.map(Math.round)).size).toBe(1);
    expect(await rows.filter({ hasText: '\\u{202E}' }).count()).toBe(1);
    expect(await page.locator('[data-row] button').count()).toBe(0);
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(1280);
    await page.setViewportSize({ width: 390, height: 800 });
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
    await page.setViewportSize({ width: 1280, height: 900 });
    expect(await axeFindings(page)).toEqual([]);
  });

  it('goes on with the next entry in the moment in which another host settles what is read', async () => {
    const id = await spawn('One more', 'more');
    const rows = page.locator('[data-row]');
    await rows.nth(DECISIONS).focus();
    const next = await rows.nth(DECISIONS - 1).getAttribute('data-row');
    await page.evaluate(`globalThis.focusedThen = new Promise((resolve) => {
      const gone = document.activeElement;
      new MutationObserver(() => {
        if (!gone.isConnected) resolve(document.activeElement.getAttribute('data-row'));
      }).observe(document.querySelector('main'), { childList: true, subtree: true });
    });
    undefined`);
    await called(taskCancel, { task_id: id });
    expect(await page.evaluate('globalThis.focusedThen')).toBe(next);
  });

  it('follows a link although something of the view is chosen before the page is told of it', async () => {
    await page.evaluate(`location.hash = '#/board'; document.querySelector('[data-row]').focus()`);
    await page.getByRole('heading', { name: 'Board' }).waitFor();
    expect(await page.evaluate('location.hash')).toContain('#/board');
    await page.evaluate(`location.hash = '#/inbox'`);
    await page.locator('[data-row]').first().waitFor();
  });

  it('is done by keyboard alone: each act leads to the next entry, and one is taken back', async () => {
    await page.keyboard.press('j');
    for (let left = DECISIONS; left > 0; left--) {
      const isRefused = left % 3 === 0;
      await page.keyboard.press(isRefused ? '2' : '1');
      if (isRefused) {
        // At once, as somebody does who knows what comes: no letter is lost.
        await page.keyboard.type('Not this week.');
        await page.keyboard.press('Enter');
      }
      await expect.poll(count).toBe(left - 1);
      if (left === DECISIONS - 1) {
        // A second thought: it is back, read, and decided again.
        await page.keyboard.press('z');
        await expect.poll(count).toBe(left);
        await page.locator('[data-row][aria-current]:focus').waitFor();
        await page.keyboard.press('1');
        await expect.poll(count).toBe(left - 1);
      }
    }
    await page.getByText('Nothing waits for you.').waitFor();
    const { tasks } = await called(taskList, { status: 'all', limit: 100 });
    const all = (tasks as { status: string; task: string; error?: string }[]).filter(
      ({ task }) => task !== 'One more',
    );
    expect(all.filter(({ status }) => status === 'cancelled').length).toBe(4);
    expect(all.filter(({ status }) => status === 'queued').length).toBe(8);
    const reasons = all.flatMap(({ status, error }) => (status === 'cancelled' ? [error] : []));
    expect(new Set(reasons)).toEqual(new Set(['Not this week.']));
    // All of them are told, with what was said.
    await expect.poll(() => page.locator('.settled li').count()).toBe(DECISIONS);
    expect(await page.locator('.settled').getByText('Refused').count()).toBe(4);
    await expect.poll(() => page.title()).toBe('shop · Inbox');
  });

  it('says nothing on the console, and asks no other host', () => {
    expect(misdeeds).toEqual({ said: [], foreign: [] });
  });

  it('says without scripts that it needs them, and what to do instead', async () => {
    const own = await browser.newContext({ javaScriptEnabled: false });
    const bare = await own.newPage();
    await bare.goto(`${door.origin}/`);
    await bare.getByText('This page needs a current browser with scripts allowed.').waitFor();
    expect(await bare.locator('code').allInnerTexts()).toEqual(['bmad inbox', 'bmad next']);
    await own.close();
  });
});
