import { createHash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { crc32, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import type { CommandAgent } from '../../src/hosts/hosts.ts';
import { PRODUCT, SERVER_KEY } from '../../src/base/product.ts';
import { type BmadRecord, isListed, shortName } from '../../src/model/record.ts';
import { root } from '../bundle.ts';

/** Files of a package by their paths in it. */
export type Files = Map<string, string | Buffer>;

/** What all packages say of the product, each thing from the one place that has it. */
export interface Product {
  name: string;
  /** What the MCP registry calls it; the registry looks for it in the published package. */
  registryName: string;
  title: string;
  /** The key hosts file the server under. */
  key: string;
  version: string;
  description: string;
  /** The same in at most a hundred characters, which is what the registry takes. */
  short: string;
  keywords: readonly string[];
  licence: string;
  node: string;
  agents: readonly CommandAgent[];
}

interface Manifest {
  name: string;
  mcpName: string;
  version: string;
  description: string;
  keywords: string[];
  license: string;
  engines: { node: string };
}

const json = async <T>(...path: string[]): Promise<T> =>
  JSON.parse(await readFile(join(root, ...path), 'utf8')) as T;

export async function readProduct(): Promise<Product> {
  const manifest = await json<Manifest>('package.json');
  const { records } = await json<{ records: BmadRecord[] }>('dist', 'catalogue.json');
  const { description } = manifest;
  return {
    name: manifest.name,
    registryName: manifest.mcpName,
    title: PRODUCT,
    key: SERVER_KEY,
    version: manifest.version,
    description,
    short: 'Agents, workflows and knowledge of the BMad Method for every MCP host. Independent project.',
    keywords: manifest.keywords,
    licence: manifest.license,
    node: manifest.engines.node,
    agents: records
      .filter((record) => record.kind === 'agent' && isListed(record))
      .map(({ name, displayName, title }) => ({
        name: shortName(name),
        who: [displayName, title].filter(Boolean).join(', '),
      })),
  };
}

export const asJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** Claude Desktop passes over a bundle in which one file is larger than some 108 kB; this leaves room. */
export const LARGEST = 90_000;

interface Parts {
  /** The parts in order, none of them larger than a file may be. */
  parts: Buffer[];
  /** SHA-256 of all of them together. */
  digest: string;
}

/** Files as one packed text in parts: the length of a list, the list of paths and sizes, and the bytes. */
export function inParts(files: Files): Parts {
  const bytes = [...files].map(([path, content]) => [path, Buffer.from(content)] as const);
  const list = Buffer.from(JSON.stringify(bytes.map(([path, content]) => [path, content.length])));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(list.length);
  const packed = gzipSync(Buffer.concat([length, list, ...bytes.map(([, content]) => content)]), {
    level: 9,
  });
  const parts: Buffer[] = [];
  for (let at = 0; at < packed.length; at += LARGEST) parts.push(packed.subarray(at, at + LARGEST));
  return { parts, digest: createHash('sha256').update(packed).digest('hex') };
}

/** The built server with its content, by paths from `dist`. What only programs that import the library need stays out. */
export async function serverFiles(): Promise<Files> {
  const dist = join(root, 'dist');
  const entries = await readdir(dist, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(dist, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter((path) => !/^library\.|^bmad\.cjs$/.test(path))
    .sort();
  const files: Files = new Map();
  for (const path of paths) files.set(path, await readFile(join(dist, path)));
  return files;
}

/** All packages of one version are the same bytes, so entries have one date: the first that the format knows. */
const DATE = 0x21;
const DEFLATED = 8;
/** Names are UTF-8. */
const FLAGS = 0x0800;

/** Files as a zip archive. */
export function zipped(files: Files): Buffer {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [path, content] of files) {
    const bytes = Buffer.from(content);
    const name = Buffer.from(path);
    const packed = deflateRawSync(bytes, { level: 9 });
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(FLAGS, 2);
    common.writeUInt16LE(DEFLATED, 4);
    common.writeUInt16LE(DATE, 8);
    common.writeUInt32LE(crc32(bytes), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(bytes.length, 18);
    common.writeUInt16LE(name.length, 22);
    const entry = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), common, name, packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00', 'latin1'), common, rest, name]));
    bodies.push(entry);
    offset += entry.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(files.size, 4);
  end.writeUInt16LE(files.size, 6);
  end.writeUInt32LE(listed.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...bodies, listed, Buffer.from('PK\x05\x06', 'latin1'), end]);
}

interface Start {
  command: string;
  args: string[];
}

/** How npm's own runner starts this very version of the server. */
export function startCommand({ name, version }: Pick<Product, 'name' | 'version'>): Start {
  return { command: 'npx', args: ['-y', '--package', `${name}@${version}`, 'bmad-mcp-server'] };
}

/** Links that put the server into a host with one click. */
export function installLinks(product: Product): { cursor: string; vscode: string } {
  const start = startCommand(product);
  const config = Buffer.from(JSON.stringify(start)).toString('base64');
  return {
    cursor: `cursor://anysphere.cursor-deeplink/mcp/install?name=${encodeURIComponent(product.key)}&config=${encodeURIComponent(config)}`,
    vscode: `vscode:mcp/install?${encodeURIComponent(JSON.stringify({ name: product.key, ...start }))}`,
  };
}

export function linksPage(product: Product): string {
  const { cursor, vscode } = installLinks(product);
  return `# Install with one click\n\n- [Cursor](${cursor})\n- [VS Code](${vscode})\n`;
}

const SIZE = 512;

type Colour = readonly [number, number, number];
const GROUND: Colour = [24, 33, 54];
const PAPER: Colour = [244, 241, 232];
const MARK: Colour = [226, 131, 54];

/** Four cards that lead on to each other, as the phases of a project do: a picture of plain rectangles needs no file. */
export function iconPng(): Buffer {
  const rows: Buffer[] = [];
  for (let y = 0; y < SIZE; y += 1) {
    const row = Buffer.alloc(1 + SIZE * 4);
    for (let x = 0; x < SIZE; x += 1) row.set([...colourAt(x, y), inCorner(x, y) ? 0 : 255], 1 + x * 4);
    rows.push(row);
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(SIZE, 0);
  head.writeUInt32BE(SIZE, 4);
  // Eight bits for each of red, green, blue and opacity.
  head.set([8, 6, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(Buffer.concat(rows), { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

const ROUND = 96;

function inCorner(x: number, y: number): boolean {
  const near = (at: number): number => Math.max(ROUND - at, at - (SIZE - 1 - ROUND), 0);
  return Math.hypot(near(x), near(y)) > ROUND;
}

const CARD = { width: 176, height: 64, step: 68, left: 76, top: 92 };

function colourAt(x: number, y: number): Colour {
  for (let card = 0; card < 4; card += 1) {
    const left = CARD.left + card * 61;
    const top = CARD.top + card * (CARD.height + 22);
    if (x < left || x >= left + CARD.width || y < top || y >= top + CARD.height) continue;
    return x < left + CARD.height / 2 ? MARK : PAPER;
  }
  return GROUND;
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}
