import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { cliFile, serverFile } from '../../tests/support/app.ts';
import { openTab, startBrowser } from '../../tests/support/browser.ts';
import { cleanEnvironment } from './contenders.ts';
import { writeProject } from './made-project.ts';
import { seedMemories, seedRuns } from './seeds.ts';
import { cpuMilliseconds, residentMebibytes } from './system.ts';

// Measures the page over a large project, served by the built program, in a real browser:
// npm run bench:page -- [workflows] [runs] [memories] [idle seconds]
// CPU is that of the server, which other load on the machine does not change.

const [workflows = 5_000, runs = 10_000, memories = 100_000, idleSeconds = 60] = process.argv
  .slice(2)
  .map(Number);

const VIEWS = [
  'inbox',
  'now',
  'board',
  'now/runs',
  'now/tasks',
  'proof',
  'proof/handover',
  'catalogue',
  'catalogue?q=harbour',
  'memory',
  'memory?q=payment%20retry',
  'memory/failures',
  'catalogue/sources',
  'health',
];

type Known = Awaited<ReturnType<BrowserContext['storageState']>>;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** The page's own server, and the link that it prints. */
async function servePage(folder: string, home: string) {
  const child = spawn(process.execPath, [cliFile, 'page', '--port', '0'], {
    cwd: folder,
    env: cleanEnvironment(home),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const link = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.once('exit', () => reject(new Error(`bmad page has ended:\n${text}`)));
    child.stdout.on('data', (part: Buffer) => {
      text += part.toString();
      const found = /http\S+\/page\/enter\?key=[\w-]+/.exec(text)?.[0];
      if (found !== undefined) resolve(found);
    });
  });
  return { child, link, cpu: () => cpuMilliseconds(child.pid ?? 0) ?? 0 };
}

/** Nothing of the view is loading. */
async function whole(page: Page): Promise<void> {
  await page.locator('main h1').first().waitFor();
  await page.locator('main .loading').first().waitFor({ state: 'detached' });
}

const PAINTS = 5;
const PAINT_MS = 300;
const FIRST_BYTES = 90_000;

/** The first view in browsers that have nothing yet: what they load, and when something is painted. */
async function firstView(browser: Browser, storageState: Known, origin: string): Promise<string> {
  const seen: { files: number; answers: number; paint: number }[] = [];
  for (let round = 0; round < PAINTS; round++) {
    const person = await browser.newContext({ storageState });
    const { page } = await openTab(person, origin);
    await page.goto(`${origin}/`);
    await whole(page);
    seen.push(
      await page.evaluate<(typeof seen)[number]>(`(() => {
        const loaded = ['navigation', 'resource'].flatMap((kind) => performance.getEntriesByType(kind));
        const sum = (isAnswer) => loaded
          .filter(({ name }) => name.includes('/api/') === isAnswer)
          .reduce((bytes, { transferSize = 0 }) => bytes + transferSize, 0);
        const [painted] = performance.getEntriesByName('first-contentful-paint');
        return { files: sum(false), answers: sum(true), paint: painted?.startTime ?? Infinity };
      })()`),
    );
    await person.close();
  }
  const paints = seen.map(({ paint }) => Math.round(paint)).sort((a, b) => a - b);
  const [files = 0, answers = 0] = [seen[0]?.files, seen[0]?.answers];
  const paint = paints[Math.floor(PAINTS / 2)] ?? Infinity;
  const judged = (value: number, most: number): string =>
    `${value <= most ? 'holds' : 'MISSED'}, at most ${most}`;
  return [
    `first view, files: ${files} bytes as they travel (${judged(files, FIRST_BYTES)}); answers: ${answers} bytes`,
    `first paint: ${paint} ms in the middle of ${paints.join(' ')} (${judged(paint, PAINT_MS)})`,
  ].join('\n');
}

const ends: (() => Promise<void>)[] = [];
const scratch = await mkdtemp(join(tmpdir(), 'bmad-bench-page-'));
try {
  const [folder, home] = [join(scratch, 'project'), join(scratch, 'home')];
  await mkdir(home);
  say(`${workflows} workflows, ${runs} runs, ${memories} memories`);
  await writeProject(folder, workflows);
  await seedRuns(folder, runs);
  if (memories > 0) await seedMemories(serverFile, { folder, home }, memories);
  const { child, link, cpu } = await servePage(folder, home);
  ends.unshift(async () => {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill();
    await ended;
  });
  const browser = await startBrowser((end) => ends.unshift(end));
  const person = await browser.newContext();
  const { page } = await openTab(person, new URL(link).origin);
  await page.goto(link);
  await whole(page);
  say(await firstView(browser, await person.storageState(), new URL(link).origin));
  say('view, first and second time: CPU of the server in ms, ms until it was there, elements');
  for (const view of VIEWS) {
    const told: string[] = [];
    for (let round = 0; round < 2; round++) {
      const [before, start] = [cpu(), performance.now()];
      await page.evaluate(`location.hash = ${JSON.stringify(`#/${view}`)}`);
      await whole(page);
      const took = Math.round(performance.now() - start);
      const elements = await page.evaluate<number>('document.querySelectorAll("main *").length');
      told.push(`${cpu() - before} ${took} ${elements}`);
      await page.evaluate('location.hash = "#/proof/handover"');
      await page.locator('main .loading').first().waitFor({ state: 'detached' });
    }
    say(`  ${view.padEnd(26)} ${told.join('   ')}`);
  }
  say(`RSS of the server: ${Math.round(residentMebibytes(child.pid ?? 0) ?? 0)} MiB`);
  if (idleSeconds > 0) {
    await page.evaluate(
      'window.heard = 0; new EventSource("/api/events").addEventListener("change", () => window.heard++)',
    );
    // What was begun by the last view comes to its end first.
    await page.waitForTimeout(5_000);
    const before = cpu();
    await page.waitForTimeout(idleSeconds * 1_000);
    const share = (cpu() - before) / (idleSeconds * 10);
    say(
      `idle for ${idleSeconds} s: ${await page.evaluate<number>('window.heard')} events, ${share.toFixed(2)} % CPU`,
    );
  }
} finally {
  for (const end of ends) await end();
  await rm(scratch, { recursive: true, force: true });
}
