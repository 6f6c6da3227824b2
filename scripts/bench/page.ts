import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
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
  'next',
  'board',
  'runs',
  'tasks',
  'proof',
  'handover',
  'catalogue',
  'catalogue?q=harbour',
  'memory',
  'memory?q=payment%20retry',
  'failures',
  'sources',
  'health',
];

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
  const { page } = await openTab(await browser.newContext(), new URL(link).origin);
  await page.goto(link);
  await page.locator('main h1').first().waitFor();
  await page.locator('main .loading').first().waitFor({ state: 'detached' });
  const first = await page.evaluate<{ bytes: number; paint: number }>(`({
    bytes: performance.getEntries().reduce((sum, { transferSize = 0 }) => sum + transferSize, 0),
    paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? -1,
  })`);
  say(`first view: ${first.bytes} bytes, first paint after ${Math.round(first.paint)} ms`);
  say('view, first and second time: CPU of the server in ms, ms until it was there, elements');
  for (const view of VIEWS) {
    const told: string[] = [];
    for (let round = 0; round < 2; round++) {
      const [before, start] = [cpu(), performance.now()];
      await page.evaluate(`location.hash = ${JSON.stringify(`#/${view}`)}`);
      await page.locator('main h1').first().waitFor();
      await page.locator('main .loading').first().waitFor({ state: 'detached' });
      const took = Math.round(performance.now() - start);
      const elements = await page.evaluate<number>('document.querySelectorAll("main *").length');
      told.push(`${cpu() - before} ${took} ${elements}`);
      await page.evaluate('location.hash = "#/handover"');
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
