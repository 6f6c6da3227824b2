import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Browser, Locator } from 'playwright-core';
import { axeFindings, startBrowser } from '../support/browser.ts';
import { servePage, settled, type Person, type ServedPage } from '../support/page-browser.ts';
import { HOSTILE } from '../support/page-project.ts';
import { impl } from '../support/progress-trees/pieces.ts';

let served: ServedPage;
let browser: Browser;
let ada: Person;

beforeAll(async () => {
  [served, browser] = await Promise.all([servePage(afterAll), startBrowser(afterAll)]);
  ada = await served.person(browser);
});

const entry = (person: Person, text: string): Locator =>
  person.page.locator('[data-entry]', { hasText: text });

/** The entry of the inbox that is read, after it was chosen by its line. */
async function reading(person: Person, text: string): Promise<Locator> {
  await entry(person, text).click();
  return person.page.locator('[data-reader]', { hasText: text });
}

const isRead = (person: Person): Promise<string | null> =>
  person.page.evaluate("document.activeElement.closest('[data-row]')?.dataset.row ?? null");

describe('decisions on the page', () => {
  it('approves exactly the text that is shown, seen at once by whoever else looks', async () => {
    const ben = await served.person(browser);
    await Promise.all([ada.see('#/inbox'), ben.see('#/inbox')]);
    const title = 'Approve: Review the API of the cart';
    await entry(ben, title).waitFor();
    // By keyboard alone: down to the line, and its first button; z takes it back.
    const line = await entry(ada, title).getAttribute('data-row');
    for (let presses = 0; presses < 12 && (await isRead(ada)) !== line; presses++)
      await ada.page.keyboard.press('j');
    expect(await isRead(ada)).toBe(line);
    // What is asked is the title, to the letter; what the worker gets is below it.
    const { page } = ada;
    await page.getByRole('heading', { name: `${title} and list breaking changes.`, exact: true }).waitFor();
    await page.locator('[data-reader] pre', { hasText: '# Task for' }).first().waitFor();
    await ada.page.keyboard.press('1');
    await ada.page.locator('.toast', { hasText: title }).waitFor();
    await entry(ada, title).waitFor({ state: 'detached' });
    // The way back is offered for seconds only, so that on a busy machine nobody else is waited for first.
    await ada.page.keyboard.press('z');
    await entry(ada, title).waitFor();
    await entry(ben, title).waitFor();
    expect(await ada.page.locator('[data-row][aria-current]').getAttribute('data-row')).toBe(line);
    await entry(ada, title).focus();
    await ada.page.keyboard.press('1');
    await entry(ada, title).waitFor({ state: 'detached' });
    await entry(ben, title).waitFor({ state: 'detached' });
    // What follows is read, and what was done stays in sight.
    const next = await isRead(ada);
    expect(next).not.toBeNull();
    expect(await ada.page.locator('[data-row][aria-current]').getAttribute('data-row')).toBe(next);
    // So does whoever opens the page later, and sees who it was.
    const what = 'Review the API of the cart';
    await ada.page.locator('.settled', { hasText: what }).getByText('Approved').waitFor();
    await ben.page.reload();
    await ben.page.locator('.settled', { hasText: what }).getByText('Approved').waitFor();
    expect((await served.tasks()).find(({ output_key }) => output_key === 'cart-api')?.status).toBe('queued');
    await ben.context.close();
  });

  it('says to the second of two tabs that the task is decided already', async () => {
    const ben = await served.person(browser);
    const id = served.project.tasks.second;
    await ada.see(`#/now/tasks/${id}`);
    // The second tab does not hear of changes, as one that was asleep.
    await ben.page.route('**/api/events*', (route) => route.abort());
    await ben.page.reload();
    await ben.see(`#/now/tasks/${id}`);
    await ada.page.getByRole('button', { name: /^Approve/ }).click();
    await ada.page.getByRole('button', { name: /^Cancel the task/ }).waitFor();
    await ben.page.getByRole('button', { name: /^Approve/ }).click();
    // Who was first is said.
    await ben.page
      .getByRole('alert')
      .filter({ hasText: 'was approved already, by a person on the page' })
      .waitFor();
    expect((await served.tasks()).find(({ task_id }) => task_id === id)?.status).toBe('queued');
    await ben.context.close();
  });

  it('hides nothing by a role that an old address names, where no filter is shown', async () => {
    await ada.see('#/inbox?role=owner');
    await entry(ada, 'The completion contract failed').waitFor();
    expect(await ada.page.locator('.filters').count()).toBe(0);
  });

  it('refuses with a reason, and shows hostile text as the text it is', async () => {
    await ada.see('#/inbox');
    const own = await reading(ada, '<script>alert(1)</script>');
    await own.getByText('<script>alert(1)</script><img src=x onerror=alert(2)>').first().waitFor();
    expect(await own.innerText()).toContain('\\u{202E}');
    expect(await ada.page.locator('main script, main img').count()).toBe(0);
    await own.getByRole('button', { name: /^Refuse/ }).click();
    expect(await axeFindings(ada.page)).toEqual([]);
    await ada.page.keyboard.type('It is an attack.');
    await ada.page.keyboard.press('Enter');
    await own.waitFor({ state: 'detached' });
    const task = (await served.tasks()).find(({ output_key }) => output_key === 'hostile');
    expect(task).toMatchObject({ status: 'cancelled' });
  });

  it('moves a story only as it was shown, and takes it back', async () => {
    await ada.see('#/board');
    await ada.page.getByText('1 change that the files prove').waitFor();
    // A card that is dropped asks the same as a status that is chosen.
    await entry(ada, 'Guest checkout').dragTo(ada.page.getByRole('region', { name: /^Done/ }));
    await ada.page.getByRole('heading', { name: 'Guest checkout' }).waitFor();
    const shown = ada.page.getByRole('group', { name: 'What would be written' });
    await shown.getByText('+  1-4-guest-checkout: done').waitFor();
    await ada.page.getByRole('button', { name: 'Cancel' }).click();
    await shown.waitFor({ state: 'detached' });
    expect(ada.page.url()).not.toContain('to=');
    await ada.page.getByLabel('Status', { exact: true }).selectOption('in-progress');
    await shown.getByText('+  1-4-guest-checkout: in-progress').waitFor();
    const file = join(served.project.folder, impl, 'sprint-status.yaml');
    const ledger = (): Promise<string> => readFile(file, 'utf8');
    expect(await ledger()).toContain('1-4-guest-checkout: ready-for-dev');
    await ada.page.getByRole('button', { name: /^Write this/ }).click();
    await ada.page.getByRole('region', { name: 'In progress, 2' }).getByText('Guest checkout').waitFor();
    expect(await ledger()).toContain('1-4-guest-checkout: in-progress');
    await ada.page.getByRole('button', { name: /^Undo/ }).click();
    await ada.page.getByRole('region', { name: 'Ready, 1' }).getByText('Guest checkout').waitFor();
    expect(await ledger()).toContain('1-4-guest-checkout: ready-for-dev');
    await ada.page.keyboard.press('Escape');
    await expect.poll(() => ada.page.url()).not.toContain('1-4');
  });

  it('makes the change of a ledger that was proposed, and the card moves', async () => {
    await ada.see('#/board');
    await ada.page.getByText('1 change that the files prove').click();
    await ada.page.getByText('+  1-3-checkout: done').waitFor();
    await ada.page.getByRole('button', { name: /^Write these lines/ }).click();
    await ada.page.getByRole('button', { name: 'Yes, do it' }).click();
    await ada.page.getByText('1 change that the files prove').waitFor({ state: 'detached' });
    await ada.page.getByRole('region', { name: 'Done, 2' }).getByText('1.3 Checkout').waitFor();
    const ledger = await readFile(join(served.project.folder, impl, 'sprint-status.yaml'), 'utf8');
    expect(ledger).toContain('1-3-checkout: done');
  });

  it('rejects a delivery only with a reason', async () => {
    await ada.see('#/proof/handover');
    await ada.page.getByRole('link', { name: /in the inbox/ }).click();
    await ada.page.getByRole('button', { name: /^Reject/ }).click();
    await ada.page.keyboard.press('Enter');
    // The browser itself asks for the reason.
    expect(await ada.page.locator('input:invalid').count()).toBe(1);
    await ada.page.keyboard.type('The load test is missing.');
    await ada.page.keyboard.press('Enter');
    await ada.page.locator('.settled li', { hasText: 'web-to-operations' }).getByText('Refused').waitFor();
    await ada.see('#/proof/handover');
    const own = entry(ada, 'web → operations');
    await own.getByText('rejected').first().waitFor();
    await own.getByText('“The load test is missing.”').waitFor();
  });

  it('accepts a complete delivery, which then says so', async () => {
    const { contract } = await served.ask<{ contract: { contract_id: string; file: string } }>(
      'create_delivery_contract',
      { from_team: 'api', to_team: 'web', signed_by: 'Ben', artefacts: [`${impl}/1-1-product-list.md`] },
    );
    await ada.see('#/proof/handover');
    const own = entry(ada, 'api → web');
    await own.getByText('has everything').first().waitFor();
    await own.getByRole('link', { name: /inbox/ }).click();
    const waiting = await reading(ada, 'api → web waits for an answer');
    await waiting.getByRole('button', { name: /^Read all/ }).click();
    await waiting.getByText('Signed by').first().waitFor();
    await waiting.getByRole('button', { name: /^Accept/ }).click();
    await ada.page.getByRole('button', { name: 'Yes, do it' }).click();
    await waiting.waitFor({ state: 'detached' });
    await ada.see('#/proof/handover');
    await own.getByText('accepted').waitFor();
    expect(await readFile(join(served.project.folder, contract.file), 'utf8')).toContain('status: accepted');
    // A program that calls the same server has no such operation.
    expect(await served.ask('delivery_accept', { contract_id: contract.contract_id })).toBeUndefined();
  });

  it('trusts the programs of the project after the script was shown and a yes', async () => {
    await ada.see('#/inbox');
    const own = await reading(ada, 'may not run on this machine yet');
    await own.getByRole('button', { name: /^Read all/ }).click();
    await own.getByText('Completion Contract Verifier').first().waitFor();
    await own.getByRole('button', { name: /^Allow it on this machine/ }).click();
    await ada.page.getByRole('button', { name: 'Yes, do it' }).click();
    await own.waitFor({ state: 'detached' });
    const { safety } = await served.ask<{ safety: { allowed: boolean } }>('doctor');
    expect(safety.allowed).toBe(true);
  });

  it('runs the contract again without losing the place, and says what came of it', async () => {
    await ada.see('#/inbox');
    await entry(ada, 'The completion contract failed').focus();
    await ada.page.getByRole('button', { name: /^Run again/ }).waitFor();
    await ada.page.keyboard.press('1');
    await ada.page.locator('.toast', { hasText: 'Run again: Failed' }).waitFor();
    await ada.page.locator('[data-row=verdict][aria-current]').waitFor();
    expect(await isRead(ada)).toBe('verdict');
  });

  it('settles two memories that are about the same', async () => {
    for (const text of ['Carts expire after a day.', 'Carts do not expire after a day.'])
      await served.ask('remember_structured', { type: 'decisions', agent: 'architect', text });
    await ada.see('#/memory');
    const pair = ada.page.locator('.pair', { hasText: 'Carts do not expire' });
    await pair.waitFor();
    expect(await pair.getByRole('button', { name: /^This one holds/ }).count()).toBe(2);
    await pair.getByRole('button', { name: /^Both hold/ }).click();
    await pair.waitFor({ state: 'detached' });
    const { memories } = await served.ask<{ memories: { text: string }[] }>('memory_list');
    expect(memories.filter(({ text }) => text.includes('after a day')).length).toBe(2);
  });

  it('edits, forgets and restores a memory', async () => {
    // A view that is open already shows everything until typing has paused.
    await ada.see('#/board');
    await ada.see('#/memory?q=tokens%20renewed');
    await entry(ada, 'Sessions are stateless').first().click();
    await ada.page.getByRole('button', { name: 'Edit' }).click();
    await ada.page.getByLabel('Edit').fill('Sessions are stateless: tokens are renewed every day.');
    await ada.page.getByRole('button', { name: 'Save' }).click();
    await ada.page.locator('.panel-beside pre', { hasText: 'every day' }).waitFor();
    await ada.page.getByRole('button', { name: /^Forget/ }).click();
    await ada.page.getByRole('button', { name: /^Restore/ }).click();
    await ada.page.getByRole('button', { name: /^Forget/ }).waitFor();
    await ada.page.getByText('Earlier versions').waitFor();
    // What was forgotten by mistake is there again with one key.
    await ada.page.getByRole('button', { name: /^Forget/ }).click();
    await ada.page.getByRole('button', { name: /^Restore/ }).waitFor();
    await ada.page.keyboard.press('z');
    await ada.page.getByRole('button', { name: /^Forget/ }).waitFor();
    expect((await served.ask<{ forgotten: number }>('memory_stats')).forgotten).toBe(0);
  });

  it('keeps quiet while nothing changes, and tells of a change that a program makes', async () => {
    await ada.see('#/board');
    const requests: string[] = [];
    const heard = (request: { url(): string }): void => void requests.push(request.url());
    ada.page.on('request', heard);
    // Once what came before has been told: long enough for several rounds of whatever might poll.
    const quiet = async (): Promise<string[]> => {
      requests.length = 0;
      await ada.page.waitForTimeout(3_000);
      return requests;
    };
    await expect.poll(quiet, { timeout: 30_000 }).toEqual([]);
    await writeFile(
      join(served.project.folder, impl, '2-1-search-by-author.md'),
      '# Story 2.1: Search\n\nStatus: in-progress\n\n## Story\n\nAs a reader.\n',
    );
    await entry(ada, 'Search by author').getByText('the file in-progress').waitFor();
    ada.page.off('request', heard);
  });

  it('shows the rest of a project whose ledger has a null and whose files have what breaks others', async () => {
    const { folder } = served.project;
    const file = join(folder, impl, 'sprint-status.yaml');
    const before = await readFile(file, 'utf8');
    await writeFile(file, `${before}  2-3-null: null\n  2-4-list: [a]\n`);
    await writeFile(
      join(folder, '_bmad/custom/bmad-agent-dev.toml'),
      `[agent]\nprinciples = ["${HOSTILE}"]\n`,
    );
    await ada.see('#/board');
    await entry(ada, 'Cart totals').waitFor();
    await ada.see('#/item/agent/dev?module=bmm');
    await ada.page.locator('.diff', { hasText: '<script>' }).waitFor();
    expect(await ada.page.locator('main script, main img').count()).toBe(0);
    await writeFile(file, before);
  });

  it('shows lines of 2 MB without stopping, and a long text in full when asked', async () => {
    const { folder } = served.project;
    const long = 'x'.repeat(2_000_000);
    await writeFile(
      join(folder, impl, '2-2-search-by-word.md'),
      `# Story 2.2: ${long}\n\nStatus: in-progress\n\n## Story\n\n${long}\n`,
    );
    await writeFile(join(folder, '_bmad/custom/bmad-agent-pm.toml'), `[agent]\nprinciples = ["${long}"]\n`);
    await ada.see('#/board');
    await entry(ada, '2.2').getByText('the file in-progress').waitFor();
    await ada.see('#/item/agent/pm?module=bmm');
    await ada.page.getByText('agent.principles').first().waitFor();
    const text = `${'x'.repeat(90_000)}the end`;
    await served.ask('remember_structured', { type: 'stories', agent: 'dev', text });
    await ada.see('#/memory?type=stories');
    await entry(ada, 'xxxx').click();
    await ada.page.getByRole('button', { name: 'Show the other 82,007 characters' }).click();
    expect(await ada.page.locator('.panel-beside pre').first().textContent()).toBe(text);
  });

  it('lists what is more than a page, page by page', async () => {
    const queue = Array.from({ length: 52 }, (_, index) => `part-${index}`);
    for (const output_key of queue)
      await served.ask('spawn_subagent_task', { agent: 'dev', task: `Do ${output_key}`, output_key });
    await ada.see('#/now/tasks?status=queued');
    const lines = ada.page.locator('.entries > li');
    expect(await lines.count()).toBe(50);
    await ada.page.getByRole('button', { name: 'Show more' }).click();
    await lines.nth(50).waitFor();
    expect(await lines.count()).toBeGreaterThan(51);
  }, 180_000);

  it('has done nothing on the way that its policy forbids, and asked no other host', () => {
    expect(ada.misdeeds).toEqual({ said: [], foreign: [] });
  });

  it('lists what cannot be read when the project is gone', async () => {
    await rm(served.project.folder, { recursive: true, force: true, maxRetries: 5 });
    await ada.see('#/now');
    await ada.page.getByRole('alert').first().waitFor();
    await settled(ada.page);
    expect(await ada.page.getByRole('button', { name: 'Try again' }).count()).toBeGreaterThan(0);
  });
});
