import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Browser, Page } from 'playwright-core';
import { Database } from '../../src/base/postgres/postgres.ts';
import { migrate } from '../../src/base/postgres/schema.ts';
import type { Context } from '../../src/operations/context.ts';
import { contextIn, repository, temporaryFolder } from '../support/app.ts';
import { axeFindings, openTab, startBrowser } from '../support/browser.ts';
import { writeFiles } from '../support/folders.ts';
import { pageDoor, type PageDoor } from '../support/page-door.ts';
import { settled } from '../support/page-browser.ts';
import { noCache } from '../support/page-project.ts';
import { Cluster, postgresPrograms } from '../support/postgres.ts';

const programs = postgresPrograms();

describe.skipIf(programs === undefined)('the page of a team with a database', () => {
  let browser: Browser;
  let cluster: Cluster;
  let context: Context;
  let door: PageDoor;

  beforeAll(async () => {
    browser = await startBrowser(afterAll);
    cluster = await Cluster.start(programs ?? '');
    const address = cluster.address(await cluster.database());
    const database = await Database.at(address);
    await migrate(database);
    await database.close();
    const shop = join(await temporaryFolder(afterAll), 'shop');
    await mkdir(shop);
    await writeFiles(shop, { '_bmad-output/note.md': '# Work\n', 'package.json': '{}\n' });
    context = await contextIn(shop, {
      flags: { embedder: 'none', ...noCache(shop) },
      env: { PATH: process.env['PATH'], BMAD_STATE: address },
    });
    context.stay();
    const folder = join(repository, 'dist', 'page');
    door = await pageDoor(context, afterAll, { state: await temporaryFolder(afterAll), folder });
  });
  afterAll(async () => {
    context.close();
    await cluster.remove();
  });

  async function come(locale: string): Promise<Page> {
    const { page } = await openTab(await browser.newContext({ locale }), door.origin);
    await page.goto(`${door.origin}/page/enter?key=${(await door.link()).key}`);
    await settled(page);
    return page;
  }

  it('says by itself that the database is away, and that it is back', async () => {
    const [english, french] = [await come('en-GB'), await come('fr-FR')];
    const told = (page: Page) => page.locator('main [role=status]', { hasText: /database|base de données/ });
    expect([await told(english).count(), await told(french).count()]).toEqual([0, 0]);
    // From here on nobody asks for anything.
    await cluster.end();
    await told(english).waitFor();
    await told(french).waitFor();
    expect(await told(english).textContent()).toContain('nothing can be decided until it is back');
    expect(await told(french).textContent()).toContain('rien ne peut être décidé avant son retour');
    expect(await axeFindings(english)).toEqual([]);
    // Who comes meanwhile is told at once.
    const late = await come('en-GB');
    await told(late).waitFor();
    await cluster.begin();
    for (const page of [english, french, late]) await told(page).waitFor({ state: 'detached' });
  });
});
