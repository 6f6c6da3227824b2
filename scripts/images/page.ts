import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { repository } from '../../tests/support/app.ts';
import { startBrowser } from '../../tests/support/browser.ts';
import { servePage } from '../../tests/support/page-browser.ts';
import { deflateSync, inflateSync } from 'node:zlib';

// Writes the pictures of the guide: every view of the page over the project of its tests, in a real browser.
// npm run images
// With names of pictures only those: npm run images -- inbox inbox-narrow
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
  ['next', '#/now', 'light', WIDE],
  ['board', '#/board', 'light', WIDE],
  ['board-narrow', '#/board', 'light', NARROW],
  ['runs', '#/now/runs', 'dark', WIDE],
  ['tasks', '#/now/tasks', 'light', WIDE],
  ['proof', '#/proof', 'light', WIDE],
  ['handover', '#/proof/handover', 'dark', WIDE],
  ['catalogue', '#/catalogue', 'light', WIDE],
  ['item', '#/item/agent/architect?module=bmm', 'dark', WIDE],
  ['memory', '#/memory?q=where%20do%20we%20keep%20orders', 'light', WIDE],
  ['failures', '#/memory/failures?plan=mark%20it%20done%20without%20tests', 'light', WIDE],
  ['sources', '#/catalogue/sources', 'dark', WIDE],
  ['health', '#/health', 'light', WIDE],
];

const isAll = process.argv.includes('--all');
const named = process.argv.slice(2).filter((word) => !word.startsWith('--'));

/** Every view in both themes, wide and narrow. */
const EVERY: readonly Picture[] = [...new Map(PICTURES.map(([name, address]) => [address, name]))].flatMap(
  ([address, name]) =>
    (['light', 'dark'] as const).flatMap((theme): Picture[] => [
      [`${name.replace('-narrow', '')}-${theme}-wide`, address, theme, WIDE],
      [`${name.replace('-narrow', '')}-${theme}-narrow`, address, theme, NARROW],
    ]),
);

/** Enough for a screen of text in a few colours, with the shades at the edges of letters. */
const COLOURS = 48;
/** Squared: below it two colours look the same, unless they are side by side. */
const CLOSE = 40;
const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** The same picture with a table of colours in place of three bytes a point: about a third of the size. */
function smallerPng(png: Buffer): Buffer {
  const { width, height, channels, points } = decoded(png);
  const counts = new Map<number, number>();
  const colours = new Uint32Array(width * height);
  for (let at = 0; at < colours.length; at += 1) {
    const from = at * channels;
    const colour = ((points[from] ?? 0) << 16) | ((points[from + 1] ?? 0) << 8) | (points[from + 2] ?? 0);
    colours[at] = colour;
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const table = chosenOf([...counts].sort((one, other) => other[1] - one[1]).map(([colour]) => colour));
  const nearest = new Map<number, number>();
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) {
      const colour = colours[y * width + x] ?? 0;
      const known = nearest.get(colour) ?? nearestIn(table, colour);
      nearest.set(colour, known);
      rows[y * (width + 1) + 1 + x] = known;
    }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8);
  const palette = Buffer.from(table.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]));
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', palette),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** The most frequent ones that differ from each other: a dot of a rare colour keeps it. */
function chosenOf(frequent: readonly number[]): number[] {
  const chosen: number[] = [];
  for (const colour of frequent) {
    if (chosen.length === COLOURS) break;
    if (chosen.every((one) => distanceOf(one, colour) > CLOSE)) chosen.push(colour);
  }
  return chosen;
}

function distanceOf(one: number, other: number): number {
  const red = (one >> 16) - (other >> 16);
  const green = ((one >> 8) & 255) - ((other >> 8) & 255);
  const blue = (one & 255) - (other & 255);
  return red * red + green * green + blue * blue;
}

function nearestIn(table: readonly number[], colour: number): number {
  let best = 0;
  let least = Infinity;
  for (const [index, one] of table.entries()) {
    const distance = distanceOf(one, colour);
    if (distance < least) [best, least] = [index, distance];
  }
  return best;
}

/** Pictures as browsers write them: eight bits a channel, in one piece. */
function decoded(png: Buffer): { width: number; height: number; channels: number; points: Buffer } {
  const width = png.readUInt32BE(16);
  const height = png.readUInt32BE(20);
  const channels = png[25] === 6 ? 4 : 3;
  const parts: Buffer[] = [];
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at))
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT')
      parts.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
  const packed = inflateSync(Buffer.concat(parts));
  const stride = width * channels;
  const points = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y += 1) {
    const filter = packed[y * (stride + 1)] ?? 0;
    for (let x = 0; x < stride; x += 1) {
      const left = x < channels ? 0 : (points[y * stride + x - channels] ?? 0);
      const above = y === 0 ? 0 : (points[(y - 1) * stride + x] ?? 0);
      const corner = x < channels || y === 0 ? 0 : (points[(y - 1) * stride + x - channels] ?? 0);
      const guess = [0, left, above, (left + above) >> 1, paeth(left, above, corner)][filter] ?? 0;
      points[y * stride + x] = (packed[y * (stride + 1) + 1 + x] ?? 0) + guess;
    }
  }
  return { width, height, channels, points };
}

function paeth(left: number, above: number, corner: number): number {
  const guess = left + above - corner;
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - above), Math.abs(guess - corner)];
  return a <= b && a <= c ? left : b <= c ? above : corner;
}

function chunk(type: string, data: Buffer): Buffer {
  const whole = Buffer.alloc(12 + data.length);
  whole.writeUInt32BE(data.length, 0);
  whole.write(type, 4, 'latin1');
  data.copy(whole, 8);
  whole.writeUInt32BE(crc(whole.subarray(4, 8 + data.length)), 8 + data.length);
  return whole;
}

function crc(bytes: Buffer): number {
  let sum = ~0;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
  }
  return ~sum >>> 0;
}

const ends: (() => Promise<void>)[] = [];
const onEnd = (end: () => Promise<void>): void => void ends.unshift(end);
try {
  const folder = isAll ? join(repository, '.cache', 'images') : join(repository, 'docs', 'guide', 'images');
  await mkdir(folder, { recursive: true });
  const served = await servePage(onEnd);
  const browser = await startBrowser(onEnd);
  for (const [name, address, colorScheme, viewport] of isAll ? EVERY : PICTURES) {
    if (named.length > 0 && !named.includes(name)) continue;
    const person = await served.person(browser, { colorScheme, viewport });
    await person.see(address);
    // Nothing of it is waited for by the view itself: the lines to paste, the live mark.
    await person.page.waitForLoadState('load');
    await person.page.locator('.dot.live').first().waitFor({ state: 'attached' });
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
