import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Browser, Page } from 'playwright-core';
import { contextIn, repository, temporaryFolder, testCall } from '../support/app.ts';
import { axeFindings, openTab, startBrowser } from '../support/browser.ts';
import { writeFiles } from '../support/folders.ts';
import { rounds } from '../support/how-much.ts';
import { pageDoor, type PageDoor } from '../support/page-door.ts';
import { settled } from '../support/page-browser.ts';
import { noCache } from '../support/page-project.ts';
import type { Context } from '../../src/operations/context.ts';
import { execute } from '../../src/operations/execute.ts';
import { taskCancel } from '../../src/operations/tasks/task-work.ts';
import { spawnSubagentTask, taskList } from '../../src/operations/tasks/tasks.ts';
import { logHandoff } from '../../src/operations/project/logs.ts';
import { inbox } from '../../src/operations/inbox/inbox.ts';

/** As many as nobody goes through: all of them on request, and more than the page lists in a usual run. */
const MANY = rounds(210, 1_100);
const LISTED = 200;

let browser: Browser;
let context: Context;
let door: PageDoor;
let state: string;
let shop: string;
let kiosk: string;

async function spawn(project: string, task: string): Promise<void> {
  const key = task.replaceAll(/\W+/g, '_').toLowerCase();
  const input = { agent: 'dev', task, output_key: key, needs_approval: 'It costs money.', project };
  const outcome = await execute(spawnSubagentTask, input, context, testCall());
  if (!outcome.ok) throw outcome.error;
}

async function cancel(wanted: string): Promise<void> {
  const listed = await execute(taskList, { status: 'all', limit: 200 }, context, testCall());
  if (!listed.ok) throw listed.error;
  const { tasks } = listed.data as { tasks: { task_id: string; task: string }[] };
  const task_id = tasks.find(({ task }) => task === wanted)?.task_id;
  const outcome = await execute(taskCancel, { task_id, reason: 'Not needed.' }, context, testCall());
  if (!outcome.ok) throw outcome.error;
}

beforeAll(async () => {
  browser = await startBrowser(afterAll);
  const folder = await temporaryFolder(afterAll);
  [shop, kiosk] = [join(folder, 'shop'), join(folder, 'kiosk')];
  for (const project of [shop, kiosk]) {
    await mkdir(project);
    await writeFiles(project, { '_bmad-output/note.md': '# Work\n', 'package.json': '{}\n' });
  }
  context = await contextIn(shop, {
    flags: { embedder: 'none', allowProjects: [kiosk], ...noCache(shop) },
  });
  context.stay();
  afterAll(() => context.close());
  state = await temporaryFolder(afterAll);
  door = await pageDoor(context, afterAll, {
    state,
    folder: join(repository, 'dist', 'page'),
    others: [kiosk],
  });
  await spawn(shop, 'Count the stock');
  await spawn(kiosk, 'Paint the shutters');
});

const entry = (page: Page, text: string) => page.locator('[data-row]', { hasText: text });

async function come(prepared: (page: Page) => Promise<unknown> = async () => undefined): Promise<Page> {
  const person = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const { page } = await openTab(person, door.origin);
  await prepared(page);
  await page.goto(`${door.origin}/page/enter?key=${(await door.link()).key}`);
  await settled(page);
  return page;
}

/** What the system would show, as the page hands it over, and a page that can be put out of sight. */
const WATCHED = `
  window.told = [];
  window.Notification = class extends EventTarget {
    static permission = 'default';
    static async requestPermission() { return (this.permission = window.answer ?? 'granted'); }
    constructor(title, how) { super(); window.told.push({ title, ...how }); window.last = this; }
  };
  let hidden = false;
  Object.defineProperty(document, 'visibilityState', { get: () => (hidden ? 'hidden' : 'visible') });
  window.hide = (is) => { hidden = is; };
`;

describe('the page on hard days', () => {
  it('has the entries of two projects in one list, and decides each in its own', async () => {
    const page = await come();
    await page.getByRole('button', { name: 'All projects' }).click();
    await entry(page, 'Paint the shutters').getByText('kiosk').waitFor();
    await entry(page, 'Count the stock').getByText('shop').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await entry(page, 'Paint the shutters').click();
    await page
      .locator('[data-reader]')
      .getByRole('button', { name: /^Approve/ })
      .click();
    await entry(page, 'Paint the shutters').waitFor({ state: 'detached' });
    await entry(page, 'Count the stock').waitFor();
    const statuses = await Promise.all(
      [shop, kiosk].map(async (project) => {
        const outcome = await execute(taskList, { status: 'all', project }, context, testCall());
        if (!outcome.ok) throw outcome.error;
        return (outcome.data as { tasks: { status: string }[] }).tasks.map(({ status }) => status);
      }),
    );
    expect(statuses).toEqual([['needs_approval'], ['queued']]);
    // What was decided elsewhere is taken back there, too.
    await page.keyboard.press('z');
    await entry(page, 'Paint the shutters').waitFor();
    await page.context().close();
  });

  it('keeps its keys for who reads all of a text, and who is asked a question', async () => {
    await spawn(shop, 'Read the long brief');
    const asked = { from: 'dev', to: 'pm', summary: 'Which payment provider?', project: shop };
    const outcome = await execute(logHandoff, asked, context, testCall());
    if (!outcome.ok) throw outcome.error;
    const page = await come();
    await entry(page, 'Read the long brief').focus();
    await page.getByRole('button', { name: /^Read all/ }).click();
    await page.keyboard.press('1');
    await entry(page, 'Read the long brief').waitFor({ state: 'detached' });
    // The first key leads to the answer, which is sent from where it is typed.
    await entry(page, 'Which payment provider?').focus();
    await page.keyboard.press('1');
    await page.locator('textarea:focus').waitFor();
    await page.keyboard.type('The one we have.');
    await page.keyboard.press('Control+Enter');
    await entry(page, 'Which payment provider?').waitFor({ state: 'detached' });
    expect(await page.locator('.toast').textContent()).toContain('Which payment provider?');
    await page.context().close();
  });

  it('reads the next entry where the one before it leaves at once with the one that is decided on', async () => {
    for (const task of ['Leave first', 'Leave second', 'Stay next', 'Stay last']) await spawn(shop, task);
    const page = await come();
    await entry(page, 'Leave second').focus();
    let list = (): void => undefined;
    const listed = new Promise<void>((resolve) => void (list = resolve));
    await page.route('**/api/page/inbox**', async (route) => {
      await listed;
      await route.continue();
    });
    await page.route('**/api/page/act', async (route) => {
      if (route.request().postData()?.includes('task_approve') !== true) return route.continue();
      await cancel('Leave first');
      const response = await route.fetch();
      list();
      await entry(page, 'Leave second').waitFor({ state: 'detached' });
      return route.fulfill({ response });
    });
    await page.keyboard.press('1');
    await page.locator('.toast').waitFor();
    expect(await page.locator('[data-row][aria-current]').textContent()).toContain('Stay next');
    for (const task of ['Stay next', 'Stay last']) await cancel(task);
    await page.context().close();
  });

  it('tells how long something has waited while the page stays open', async () => {
    const page = await come((made) => made.clock.install());
    const waits = entry(page, 'Count the stock').locator('time');
    await waits.waitFor();
    await page.clock.fastForward('02:00:00');
    await expect.poll(() => waits.textContent()).toBe('2 hr');
    await page.context().close();
  });

  it('tells the second of two people who decide at once who was first', async () => {
    await spawn(shop, 'Choose a sign');
    // The second does not hear of changes, as a page that was asleep.
    const second = await come((made) => made.route('**/api/events*', (route) => route.abort()));
    const first = await come();
    for (const page of [first, second]) await entry(page, 'Choose a sign').click();
    const approve = (page: Page) => page.locator('[data-reader]').getByRole('button', { name: /^Approve/ });
    await approve(first).click();
    await entry(first, 'Choose a sign').waitFor({ state: 'detached' });
    await approve(second).click();
    const said = await second.locator('[data-reader] [role=alert]').textContent();
    expect(said).toMatch(/was approved already, by a person on the page/);
    for (const page of [first, second]) await page.context().close();
  });

  it('tells outside of the page only who wants it, only out of sight, once, and without a sound', async () => {
    const page = await come((made) => made.addInitScript(WATCHED));
    const told = () => page.evaluate<{ title: string; body: string; silent: boolean }[]>('told');
    await page.evaluate('hide(true)');
    await spawn(shop, 'Order new bags');
    await entry(page, 'Order new bags').waitFor();
    expect(await told()).toEqual([]);
    await page.evaluate('hide(false)');
    await page.getByRole('button', { name: 'Notify me' }).click();
    await page.getByRole('button', { name: 'Notify me', pressed: true }).waitFor();
    await spawn(shop, 'Wash the window');
    await entry(page, 'Wash the window').waitFor();
    expect(await told()).toEqual([]);
    await page.evaluate('hide(true)');
    await spawn(shop, 'Fix the door');
    await entry(page, 'Fix the door').waitFor();
    expect(await told()).toMatchObject([{ title: 'shop', body: 'Approve: Fix the door', silent: true }]);
    await page.evaluate('last.dispatchEvent(new Event("click"))');
    await page.locator('[data-reader]', { hasText: 'Fix the door' }).waitFor();
    // Who is not allowed to is told so, and nothing is kept.
    await page.evaluate('hide(false)');
    await page.getByRole('button', { name: 'Notify me' }).click();
    await page.evaluate('answer = "denied"');
    await page.getByRole('button', { name: 'Notify me' }).click();
    await page.getByText('This browser does not allow notifications of this page.').first().waitFor();
    expect(await page.getByRole('button', { name: 'Notify me', pressed: true }).count()).toBe(0);
    await page.context().close();
  });

  it('says that a server came back with another version, and loads its page when it is asked to', async () => {
    const page = await come();
    const note = page.getByText('The server has another version now.');
    expect(await note.count()).toBe(0);
    await page.route('**/api/page/session', async (route) => {
      const answer = await route.fetch();
      await route.fulfill({ response: answer, json: { ...(await answer.json()), version: '99.0.0' } });
    });
    await page.evaluate('location.hash = "#/health"');
    await note.waitFor();
    await Promise.all([
      page.waitForEvent('load'),
      page.getByRole('button', { name: 'Load the page again' }).click(),
    ]);
    await settled(page);
    expect(await note.count()).toBe(0);
    await page.context().close();
  });

  it('shows the others, and says which is gone, when one of several projects vanishes', async () => {
    const page = await come();
    await rm(kiosk, { recursive: true });
    await page.getByRole('button', { name: 'All projects' }).click();
    await entry(page, 'Count the stock').waitFor();
    await page.getByLabel('To look at').getByText('kiosk').first().waitFor();
    expect(await page.locator('[data-row]').count()).toBeGreaterThan(0);
    await page.context().close();
  });

  it(`takes ${MANY} entries: as many as anyone reads are listed, the number is the whole, and keys work`, async () => {
    for (let index = 0; index < MANY; index++) await spawn(shop, `Do number ${index}`);
    const outcome = await execute(inbox, {}, context, testCall());
    if (!outcome.ok) throw outcome.error;
    const all = (outcome.data as { items: unknown[] }).items.length;
    const page = await come();
    const number = new Intl.NumberFormat('en-US').format(all);
    await expect.poll(() => page.title()).toBe(`(${all}) shop · Inbox`);
    await page.getByText(`${number} entries`, { exact: true }).waitFor();
    expect(await page.locator('[data-row]').count()).toBe(LISTED);
    await page.getByText(`and ${all - LISTED} more`).waitFor();
    await page.keyboard.press('j');
    const first = await page.locator('[data-row][aria-current]').getAttribute('data-row');
    await page.keyboard.press('1');
    await expect.poll(() => page.title()).toBe(`(${all - 1}) shop · Inbox`);
    expect(await page.locator('[data-row][aria-current]').getAttribute('data-row')).not.toBe(first);
    expect(await page.locator('[data-row]').count()).toBe(LISTED);
    await page.context().close();
  });
});
