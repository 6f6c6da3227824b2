import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { repository } from '../../tests/support/app.ts';
import { startBrowser } from '../../tests/support/browser.ts';
import { servePage } from '../../tests/support/page-browser.ts';
import { smallerPng } from './smaller-png.ts';

// Writes the pictures of the guide: every view of the page over the project of its tests, in a real browser.
// npm run images
// With --all every view in both themes, wide and narrow, whole and as large as it is, to look at: .cache/images

const WIDE = { width: 1100, height: 660 };
const NARROW = { width: 390, height: 660 };
const LARGEST = 40_000;

/** A script that gives the folders of this machine the names they have in the guide. */
function renamed(names: Readonly<Record<string, string>>): string {
  return `{
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode())
      for (const [own, shown] of Object.entries(${JSON.stringify(names)}))
        walker.currentNode.nodeValue = walker.currentNode.nodeValue.replaceAll(own, shown);
  }`;
}

type Picture = readonly [name: string, address: string, colorScheme: 'light' | 'dark', viewport: typeof WIDE];

const PICTURES: readonly Picture[] = [
  ['inbox', '#/inbox', 'light', WIDE],
  ['inbox-narrow', '#/inbox', 'dark', NARROW],
  ['next', '#/next', 'light', WIDE],
  ['board', '#/board', 'light', WIDE],
  ['board-narrow', '#/board', 'light', NARROW],
  ['runs', '#/runs', 'dark', WIDE],
  ['tasks', '#/tasks', 'light', WIDE],
  ['proof', '#/proof', 'light', WIDE],
  ['handover', '#/handover', 'dark', WIDE],
  ['catalogue', '#/catalogue', 'light', WIDE],
  ['item', '#/item/agent/architect?module=bmm', 'dark', WIDE],
  ['memory', '#/memory?q=where%20do%20we%20keep%20orders', 'light', WIDE],
  ['failures', '#/failures?plan=mark%20it%20done%20without%20tests', 'light', WIDE],
  ['sources', '#/sources', 'dark', WIDE],
  ['health', '#/health', 'light', WIDE],
];

const isAll = process.argv.includes('--all');

/** Every view in both themes, wide and narrow. */
const EVERY: readonly Picture[] = [...new Map(PICTURES.map(([name, address]) => [address, name]))].flatMap(
  ([address, name]) =>
    (['light', 'dark'] as const).flatMap((theme): Picture[] => [
      [`${name.replace('-narrow', '')}-${theme}-wide`, address, theme, WIDE],
      [`${name.replace('-narrow', '')}-${theme}-narrow`, address, theme, NARROW],
    ]),
);

const ends: (() => Promise<void>)[] = [];
const onEnd = (end: () => Promise<void>): void => void ends.unshift(end);
try {
  const folder = isAll ? join(repository, '.cache', 'images') : join(repository, 'docs', 'guide', 'images');
  await mkdir(folder, { recursive: true });
  const served = await servePage(onEnd);
  const browser = await startBrowser(onEnd);
  for (const [name, address, colorScheme, viewport] of isAll ? EVERY : PICTURES) {
    const person = await served.person(browser, { colorScheme, viewport });
    await person.see(address);
    // Nothing of it is waited for by the view itself: the lines to paste, the live mark.
    await person.page.waitForLoadState('load');
    await person.page.getByText('Live', { exact: true }).waitFor();
    await person.page.waitForTimeout(500);
    await person.page.evaluate(
      renamed({
        [repository]: '/opt/bmad',
        [dirname(served.project.folder)]: '/home/ada',
        [served.project.home]: '/home/ada',
      }),
    );
    const png = smallerPng(await person.page.screenshot({ fullPage: isAll }));
    if (!isAll && png.length > LARGEST)
      throw new Error(`${name} has ${png.length} bytes; at most ${LARGEST} are allowed.`);
    await writeFile(join(folder, `page-${name}.png`), png);
    await person.context.close();
  }
} finally {
  for (const end of ends) await end();
}
process.stdout.write(`Written to ${isAll ? '.cache/images' : 'docs/guide/images'}.\n`);
