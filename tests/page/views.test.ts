import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Browser } from 'playwright-core';
import { openHost, type AppHost } from '../support/app-host.ts';
import { axeFindings, startBrowser } from '../support/browser.ts';
import { textsOf } from '../support/mcp-client.ts';
import { servePage, type Person, type ServedPage } from '../support/page-browser.ts';
import { HOSTILE } from '../support/page-project.ts';
import { connectInMemory, ERAS } from '../support/told-client.ts';
import { isDeep } from '../support/how-much.ts';

/** Every view, and something that only its data can have put there. */
const VIEWS: Readonly<Record<string, readonly string[]>> = {
  '#/inbox': [
    'Waiting for you',
    'Review the API of the cart',
    'The ledgers lack 1 change',
    'failed at npx vitest run',
  ],
  '#/now': [
    'Bring the ledgers up to date',
    'bmm/bmad-prd',
    '/bmad-build 1-2-cart-totals-with-tax',
    'Task queued',
  ],
  '#/board': [
    'Cart totals with tax',
    'the ledger says review',
    '1 of 3',
    '1 change that the files prove',
    '1 Checkout',
  ],
  '#/board/1-3-checkout': ['As a user, I want it.', 'Close', 'the ledger says review', '1 of 1', 'Planned'],
  '#/now/runs': ['bmm/bmad-prd', '1 of 5 steps', 'Read the brief.'],
  '#/now/tasks': ['Compare three queues', 'needs approval'],
  '#/proof': [
    'Not proven: npx vitest run failed',
    '2 FAILED of 118 tests',
    'Verdicts',
    'once you allow them',
    'Copy a repair request',
  ],
  '#/proof/handover': ['web → operations', 'waits for an answer'],
  '#/catalogue': ['Winston', 'code-review', 'At any time'],
  '#/item/agent/architect?module=bmm': [
    '/bmad-agent-architect',
    'agent.principles',
    'PostgreSQL unless',
    'built in',
  ],
  '#/memory': ['Orders are kept in PostgreSQL', '6 memories.', 'Today'],
  '#/memory/failures?plan=mark%20it%20done%20without%20tests': [
    'the nearest first',
    'No story is done without a receipt.',
  ],
  '#/catalogue/sources': ['No git sources are configured.'],
  '#/health/audit': ['task_approve', 'wrong_token', 'ada'],
  '#/health': [
    '2 things to repair.',
    'BMAD 6.12.0 (built in)',
    // There is no cache in these tests, so that the index has no file.
    'cannot be used',
    'Claude Code',
    'does not exist any more',
    '1,200 tokens',
  ],
};

/** Views that between them have all kinds of parts: a usual run has axe look at these, in both colours. */
const ALL_PARTS = new Set([
  '#/inbox',
  '#/now',
  '#/board/1-3-checkout',
  '#/item/agent/architect?module=bmm',
  '#/proof',
]);

const DESK = { width: 1280, height: 900 };
const PHONE = { width: 390, height: 800 };

/** Links and buttons whose words stand letter below letter. */
const TOO_NARROW = `[...document.querySelectorAll('main a, main button')]
  .filter((each) => each.checkVisibility() && each.getBoundingClientRect().width < 24)
  .map((each) => each.textContent)`;

const IS_SCROLLED = `(({ scrollHeight, clientHeight }) => scrollHeight > clientHeight)(document.querySelector('.scrolled'))`;

const widthOf = ({ page }: Person): Promise<number> =>
  page.evaluate<number>('document.documentElement.scrollWidth');

let served: ServedPage;
let browser: Browser;
let ada: Person;

beforeAll(async () => {
  [served, browser] = await Promise.all([servePage(afterAll), startBrowser(afterAll)]);
  await writeUsage();
  await writeAudit();
  ada = await served.person(browser);
});

/** What servers over HTTP keep of calls. */
async function writeAudit(): Promise<void> {
  const audit = await served.context.audit();
  const line = { by: { kind: 'token', name: 'ada' }, operation: 'task_approve', outcome: 'ok', ms: 3 };
  await audit.note({ ...line, project: served.project.folder, target: 'task-1' });
  await audit.note({
    ...line,
    operation: 'door',
    by: { kind: 'unknown', name: '' },
    outcome: 'wrong_token',
    count: 4,
  });
}

/** What was started on two days, one apart from the other. */
async function writeUsage(): Promise<void> {
  const { place } = await served.context.usage();
  const line = (at: string, tokens: number): string =>
    `${JSON.stringify({ what: 'workflow bmm/bmad-prd', at: Date.parse(at), tokens })}\n`;
  await mkdir(dirname(place), { recursive: true });
  await writeFile(
    place,
    `{"log":"bmad-usage","version":1}\n${line('2026-03-01T10:00:00Z', 800)}${line('2026-03-03T10:00:00Z', 400)}`,
  );
}

describe('the page', () => {
  it.each(Object.entries(VIEWS))('shows %s, and axe finds nothing', async (address, texts) => {
    await ada.see(address);
    // What is not there fails after a while, and its text is in the message.
    for (const text of texts)
      await ada.page.locator('main').getByText(text).first().waitFor({ state: 'attached' });
    await ada.page.setViewportSize(PHONE);
    expect(await widthOf(ada)).toBeLessThanOrEqual(PHONE.width);
    expect(await ada.page.evaluate(TOO_NARROW)).toEqual([]);
    await ada.page.setViewportSize(DESK);
    if (!isDeep && !ALL_PARTS.has(address)) return;
    await ada.page.emulateMedia({ colorScheme: 'light' });
    expect(await axeFindings(ada.page)).toEqual([]);
    // The elements are the same, only their colours are not.
    await ada.page.emulateMedia({ colorScheme: 'dark' });
    expect(await axeFindings(ada.page, ['color-contrast'])).toEqual([]);
    await ada.page.emulateMedia({ colorScheme: 'light' });
  });

  it('says beside every view which project and branch this is, and what waits there', async () => {
    await ada.see('#/memory');
    const side = ada.page.locator('.side');
    await side.locator('.project').getByText('trunk', { exact: true }).waitFor();
    // The same number as in the view, and none before all of it is known.
    await side.getByRole('link', { name: 'Health 2 to repair' }).waitFor();
    await promisify(execFile)('git', ['switch', '-q', '-c', 'cart/tax'], { cwd: served.project.folder });
    await ada.page.evaluate(`dispatchEvent(new Event('focus'))`);
    await expect.poll(() => side.locator('.project small').textContent()).toBe('cart/tax');
    await promisify(execFile)('git', ['switch', '-q', 'trunk'], { cwd: served.project.folder });
  });

  it('has the list and what is read at the edges of the window, each scrolled for itself', async () => {
    await ada.see('#/inbox');
    for (const viewport of [
      { width: 1440, height: 300 },
      { width: 1024, height: 300 },
    ]) {
      await ada.page.setViewportSize(viewport);
      const box = async (part: string) => ada.page.locator(part).boundingBox();
      const [list, reader] = await Promise.all([box('.mail-list'), box('.reader')]);
      expect([list?.y, list?.height, reader?.y, reader?.height]).toEqual([0, 300, 0, 300]);
      expect((reader?.x ?? 0) + (reader?.width ?? 0)).toBe(viewport.width);
      expect(await ada.page.evaluate('document.documentElement.scrollHeight')).toBe(300);
      expect(await ada.page.evaluate(IS_SCROLLED)).toBe(true);
    }
    await ada.page.setViewportSize(DESK);
  });

  it('fits a phone: nothing is wider than the screen, and every view can be reached', async () => {
    const phone = await served.person(browser, { viewport: PHONE });
    // In a window of that width, each has been seen above.
    for (const address of isDeep ? Object.keys(VIEWS) : ['#/now', '#/inbox']) {
      await phone.see(address);
      expect(await widthOf(phone), address).toBeLessThanOrEqual(PHONE.width);
    }
    expect(await axeFindings(phone.page)).toEqual([]);
    for (const name of ['More', 'Catalogue', 'Sources'])
      await phone.page.getByRole('link', { name, exact: true }).click();
    await phone.page.getByRole('heading', { name: 'Sources' }).waitFor();
    expect(await axeFindings(phone.page)).toEqual([]);
    expect(phone.misdeeds).toEqual({ said: [], foreign: [] });
    await phone.context.close();
  });

  it('speaks French to those who ask for it, and remembers what was chosen', async () => {
    const french = await served.person(browser, { locale: 'fr-FR' });
    await french.see('#/board');
    await french.page.getByRole('heading', { name: 'Tableau' }).waitFor();
    expect(await french.page.locator('html').getAttribute('lang')).toBe('fr');
    expect(await axeFindings(french.page)).toEqual([]);
    await french.page.getByRole('button', { name: 'English' }).click();
    await french.page.reload();
    await french.page.getByRole('link', { name: 'Catalogue' }).waitFor();
    expect(await french.page.locator('html').getAttribute('lang')).toBe('en');
    await french.context.close();
  });

  it('says what the server tells people in French too, and what people wrote as they wrote it', async () => {
    // Word for word what the server says itself, and a sentence with marks that French writes otherwise.
    const written = 'Bring the ledgers up to date';
    const sentence = 'It was "done" ; 1 story, 2 stories: Nothing found. « oui »';
    for (const text of [written, sentence])
      expect(
        await served.ask('remember_structured', { type: 'shared-context', agent: 'pm', text }),
      ).toBeDefined();
    const actions = async (): Promise<string[]> =>
      (await served.ask<{ actions: { what: string }[] }>('next')).actions.map(({ what }) => what);
    const before = await actions();
    expect(before).toContain(written);

    const french = await served.person(browser, { locale: 'fr-FR' });
    await french.see('#/now');
    const main = french.page.locator('main');
    const hero = main.locator('.hero');
    await hero.getByText('Mettre les registres à jour').first().waitFor();
    expect(await hero.textContent()).not.toContain(written);
    await french.see('#/memory');
    const shown = (await main.textContent()) ?? '';
    expect(shown).toContain(written);
    expect(shown).toContain(sentence);

    // Who asks at the same time, and the next program, are spoken to in their own language.
    await ada.see('#/now');
    await ada.page.locator('main').getByText(written).first().waitFor();
    expect(await actions()).toEqual(before);
    // What is shown follows the language, without being opened again.
    await french.see('#/now');
    await french.page.getByRole('button', { name: 'English' }).click();
    await hero.getByText(written).first().waitFor();
    await french.context.close();
  });

  it('finds as one types, and the address has what was typed', async () => {
    await ada.see('#/catalogue');
    await ada.page.getByRole('searchbox').fill('sprint plan');
    // All of them go when what is found comes, also the one that is found.
    await ada.page.getByRole('link', { name: 'Winston' }).waitFor({ state: 'detached' });
    expect(ada.page.url()).toMatch(/#\/catalogue\?.*q=sprint\+plan/);
    await ada.page.getByRole('link', { name: 'sprint-planning' }).click();
    await ada.page.getByRole('heading', { name: 'sprint-planning' }).waitFor();
  });

  it('shows only the calls of one outcome, or caller, that was chosen', async () => {
    await ada.see('#/health/audit');
    const calls = ada.page.locator('.calls li');
    await calls.filter({ hasText: 'task_approve' }).waitFor();
    await ada.page.getByLabel('Outcome').selectOption('wrong_token');
    await calls.filter({ hasText: 'task_approve' }).waitFor({ state: 'detached' });
    await calls.filter({ hasText: '× 4' }).waitFor();
    expect(ada.page.url()).toContain('outcome=wrong_token');
    await ada.page.getByLabel('Outcome').selectOption('');
    await ada.page.getByLabel('Caller').selectOption('ada');
    await calls.filter({ hasText: 'wrong_token' }).waitFor({ state: 'detached' });
    await expect.poll(() => calls.count()).toBe(1);
    expect(await calls.textContent()).toContain('token · ada · shop · 3 ms');
  });

  it('copies the line that starts an agent', async () => {
    await ada.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await ada.see('#/item/agent/architect?module=bmm');
    await ada.page.getByRole('button', { name: 'Copy: /bmad-agent-architect' }).click();
    await ada.page.getByText('Copied').waitFor();
    expect(await ada.page.evaluate('navigator.clipboard.readText()')).toBe('/bmad-agent-architect');
  });

  it('finds stories, tasks, memories, agents and views from anywhere, by keyboard alone', async () => {
    await ada.see('#/health');
    const found = ada.page.getByRole('option');
    const look = async (typed: string, kind: string): Promise<void> => {
      await ada.page.keyboard.press('Control+k');
      await ada.page.keyboard.type(typed);
      await found.filter({ hasText: kind }).first().waitFor();
    };
    await look('guest checkout', 'story');
    expect(await axeFindings(ada.page)).toEqual([]);
    await ada.page.keyboard.press('Enter');
    await ada.page.getByRole('heading', { name: 'Guest checkout' }).waitFor();
    expect(ada.page.url()).toContain('#/board/1-4-guest-checkout');
    await ada.page.keyboard.press('Escape');
    await expect.poll(() => ada.page.url()).toMatch(/#\/board(?:\?|$)/);
    await look('compare three', 'task');
    await ada.page.keyboard.press('Escape');
    await look('tokens renewed', 'memory');
    await ada.page.keyboard.press('Escape');
    await look('winston', 'Agents');
    await ada.page.keyboard.press('Escape');
    await look('proof', 'view');
    await ada.page.keyboard.press('Enter');
    await ada.page.getByRole('heading', { name: 'Proof', exact: true }).waitFor();
  });

  /** The page as it is before it knows what comes next; what is answered lets it know. */
  async function withoutNext(): Promise<() => void> {
    let answer = (): void => undefined;
    const held = new Promise<void>((resolve) => (answer = resolve));
    await ada.page.route('**/api/next', async (route) => {
      await held;
      await route.continue();
    });
    await ada.page.reload();
    return answer;
  }

  it('opens what is looked for although it comes after the key that opens it', async () => {
    const answer = await withoutNext();
    await ada.see('#/health');
    await ada.page.keyboard.press('Control+k');
    const near = ada.page.waitForResponse('**/api/recall_structured');
    await ada.page.keyboard.type('guest checkout');
    await near;
    // What is near it is known by now, and does not stand where the story will.
    expect(await ada.page.getByRole('option').count()).toBe(0);
    await ada.page.keyboard.press('Enter');
    answer();
    await ada.page.getByRole('heading', { name: 'Guest checkout' }).waitFor();
    await ada.page.unroute('**/api/next');
    await ada.page.keyboard.press('Escape');
  });

  it('offers to run the contract only when it is known that it may run', async () => {
    const answer = await withoutNext();
    await ada.see('#/proof');
    await ada.page.getByRole('button', { name: 'Copy a repair request' }).waitFor();
    expect(await ada.page.getByRole('button', { name: /^Run/ }).count()).toBe(0);
    answer();
    await ada.page.getByText('Its programs may run here once you allow them').waitFor();
    await ada.page.unroute('**/api/next');
  });

  it.each([
    ['#/board', 'Guest checkout'],
    ['#/now/tasks', 'Compare three queues'],
    ['#/memory', 'Sessions are stateless'],
  ])(
    'opens something of %s beside the list, and closes it without losing the place',
    async (address, text) => {
      await ada.see(address);
      const line = ada.page.locator('main [data-entry]', { hasText: text }).first();
      await line.focus();
      await ada.page.keyboard.press('Enter');
      const panel = ada.page.locator('aside.panel-beside', { hasText: text });
      await panel.waitFor();
      const where = (): Promise<string> =>
        ada.page.evaluate<string>('document.activeElement.closest("aside, a")?.textContent ?? ""');
      // What is opened is where keys go, and the list is the one that was there.
      expect(await ada.page.locator('aside.panel-beside:focus').count()).toBe(1);
      await ada.page.keyboard.press('Escape');
      await panel.waitFor({ state: 'detached' });
      expect(await where()).toContain(text);
    },
  );

  it('has another origin served by a click', async () => {
    await ada.see('#/item/agent/architect?module=bmm');
    const chosen = ada.page.locator('.item', { hasText: 'served' }).first();
    expect(await chosen.textContent()).toContain('Project');
    await ada.page.getByRole('button', { name: 'Use this one: BMAD 6.12.0 (built in)' }).click();
    await ada.page.getByRole('button', { name: 'Use this one: Project' }).click();
    await ada.page.getByRole('button', { name: 'Use this one: BMAD 6.12.0 (built in)' }).waitFor();
  });

  it('is used by keyboard alone: keys go to views and entries, a sheet says which', async () => {
    await ada.see('#/inbox');
    await ada.page.keyboard.press('?');
    await ada.page.getByRole('dialog', { name: 'Keys' }).waitFor();
    expect(await axeFindings(ada.page)).toEqual([]);
    await ada.page.keyboard.press('Escape');
    await ada.page.keyboard.press('g');
    await ada.page.keyboard.press('m');
    await ada.page.getByRole('heading', { name: 'Memory' }).waitFor();
    await ada.page.getByText('Orders are kept').waitFor();
    await ada.page.keyboard.press('j');
    const outline = await ada.page.evaluate('getComputedStyle(document.activeElement).outlineStyle');
    expect(outline).toBe('solid');
    await ada.page.keyboard.press('Enter');
    await ada.page.getByRole('button', { name: 'Edit' }).waitFor();
  });

  it('says of an address that leads nowhere that it does', async () => {
    await ada.see('#/nowhere/%E0%A4%A');
    await ada.page.getByRole('heading', { name: 'There is no such view' }).waitFor();
    await ada.see('#/item/agent/nobody');
    // Of a thing that is not there, that and nothing else is said, in one sentence for a person.
    const main = ada.page.locator('main');
    await main.getByText(/There is no agent.* "nobody"/).waitFor();
    expect(await main.textContent()).not.toMatch(/POST|How to start|Try again/);
    expect(await main.getByRole('alert').count()).toBe(0);
    await main.getByRole('link', { name: 'Catalogue' }).waitFor();
  });

  it('has done nothing on the way that its policy forbids, and asked no other host', () => {
    // The one refusal is of the agent that is not there, which the browser notes.
    const said = ada.misdeeds.said.filter((text) => !/status of 404/.test(text));
    expect({ ...ada.misdeeds, said }).toEqual({ said: [], foreign: [] });
  });
});

describe('the same as an app of a host', () => {
  let host: AppHost;
  const connected = (mode: (typeof ERAS)[number]['mode'], apps?: true) =>
    connectInMemory(served.context, mode, afterAll, {
      ...(apps === undefined ? {} : { apps }),
      keepContext: true,
    });

  it.each(ERAS)('is told of to clients of $era that show apps, and to no others', async ({ mode }) => {
    const [shows, reads] = await Promise.all([connected(mode, true), connected(mode)]);
    const bound = (await shows.listTools()).tools.filter(({ _meta }) => _meta?.['ui'] !== undefined);
    expect(bound.map(({ name, _meta }) => [name, _meta?.['ui']])).toEqual([
      ['show_board', { resourceUri: 'ui://bmad/board.html', visibility: ['model', 'app'] }],
      ['show_catalogue', { resourceUri: 'ui://bmad/board.html', visibility: ['model', 'app'] }],
      ['ask_decision', { resourceUri: 'ui://bmad/board.html', visibility: ['model', 'app'] }],
      ['app_data', { visibility: ['app'] }],
    ]);
    const { tools } = await reads.listTools();
    expect(tools.filter(({ name, _meta }) => name === 'show_board' || _meta?.['ui'] !== undefined)).toEqual(
      [],
    );
    // Whoever calls one all the same gets the text, which is whole.
    const asked = {
      question: 'Which?',
      options: ['One', 'Two'],
      recommendation: 'Two',
      evidence: ['a.md:1 two'],
    };
    const [card] = textsOf(await reads.callTool({ name: 'ask_decision', arguments: asked }));
    expect(card).toBe('Which?\n\nA. One\nB. Two (recommended)\n\n- a.md:1 two');
    const [board] = textsOf(await reads.callTool({ name: 'show_board', arguments: {} }));
    expect(board).toContain('1. Bring the ledgers up to date');
  });

  it('shows the next steps and the stories, and a button says the step in the conversation', async () => {
    host = await openHost(browser, await connected('legacy', true));
    await host.open('show_board', {}, { theme: 'dark', locale: 'en-GB' });
    await host.app.getByRole('heading', { name: 'Next steps' }).waitFor();
    await host.app.getByText('1.2 Cart totals with tax').waitFor();
    expect(await host.axe()).toEqual([]);
    await host.app.getByRole('button', { name: 'Start: Bring the ledgers up to date' }).click();
    await host.app.getByText('Sent to the conversation').waitFor();
    expect(host.said).toEqual(['Bring the ledgers up to date: reconcile_ledgers {}']);
  });

  it('asks one question, and a choice that the host does not take is not made', async () => {
    await host.open('ask_decision', {
      question: `Which queue? ${HOSTILE}`,
      options: ['PostgreSQL', 'Redis', 'RabbitMQ'],
      recommendation: 'PostgreSQL',
      evidence: ['docs/architecture.md:2 one database'],
    });
    await host.app.getByRole('heading', { name: 'Which queue? <script>' }).waitFor();
    await host.app.getByText('docs/architecture.md:2 one database').waitFor();
    expect(await host.axe()).toEqual([]);
    host.confirms = false;
    host.said.length = 0;
    await host.app.getByRole('button', { name: 'Choose: Redis' }).click();
    await host.app.getByText('The host did not take it.').waitFor();
    host.confirms = true;
    await host.app.getByRole('button', { name: 'Choose: PostgreSQL' }).click();
    await host.app.getByText('Sent to the conversation').waitFor();
    expect(host.said).toEqual([`Which queue? ${HOSTILE} → PostgreSQL`]);
    // It is a sentence, and nothing that waits for a person has been decided by it.
    expect((await served.tasks()).filter(({ status }) => status === 'needs_approval').length).toBe(3);
  });

  it('finds agents and workflows, in French where the host speaks it', async () => {
    await host.open('show_catalogue', { what: 'agents' }, { locale: 'fr-FR' });
    await host.app.getByRole('button', { name: 'Démarrer : architect' }).waitFor();
    await host.app.getByRole('searchbox').fill('product requirements');
    host.said.length = 0;
    await host.app.getByRole('button', { name: 'Démarrer : prd', exact: true }).click();
    await host.app.getByText('Envoyé dans la conversation').waitFor();
    expect(host.said).toEqual(['prd: bmad {"operation":"execute","workflow":"bmm/prd"}']);
    expect(host.misdeeds).toEqual({ said: [], foreign: [] });
  });
});
