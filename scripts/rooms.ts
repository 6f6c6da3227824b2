import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { root } from './bundle.ts';

/**
 * How large the rooms of `src` are, and how large they may be. `npm run update` takes a limit down to what is there; only a
 * person takes one up, in `tests/rooms.json`, and the commit that does so says why.
 */

interface Room {
  lines: number;
  files: number;
}

type Rooms = Record<string, Room>;

const LIMITS = join(root, 'tests', 'rooms.json');

/** A room is a folder of `src`; of the larger ones, each folder in it. */
const LARGE = new Set(['base', 'kit', 'operations', 'services', 'surfaces']);

/** Lists that are written from the declarations: they grow with each operation, and nobody reads them. */
const LISTS = new Set(['operations/index.ts', 'operations/offered.ts', 'operations/registry.ts']);

function roomOf(file: string): string {
  const [folder = '', inner = '', ...rest] = file.split('/');
  return LARGE.has(folder) && rest.length > 0 ? `${folder}/${inner}` : folder;
}

/** The code of every room, tests aside. */
export async function measureRooms(): Promise<Rooms> {
  const source = join(root, 'src');
  const entries = await readdir(source, { recursive: true, withFileTypes: true });
  const rooms: Rooms = {};
  for (const entry of entries) {
    if (!entry.isFile() || !/\.tsx?$/.test(entry.name) || entry.name.includes('.test.')) continue;
    const path = join(entry.parentPath, entry.name);
    const file = relative(source, path).split(sep).join('/');
    if (LISTS.has(file)) continue;
    const room = (rooms[roomOf(file)] ??= { lines: 0, files: 0 });
    room.lines += (await readFile(path, 'utf8')).split('\n').length - 1;
    room.files += 1;
  }
  return rooms;
}

export async function readLimits(): Promise<Rooms> {
  return JSON.parse(await readFile(LIMITS, 'utf8')) as Rooms;
}

/** Each limit as low as the code allows; a room that is new keeps what it has. */
function lowered(limits: Rooms, measured: Rooms): Rooms {
  const names = Object.keys(measured).sort();
  return Object.fromEntries(
    names.map((name) => {
      const now = measured[name] ?? { lines: 0, files: 0 };
      const limit = limits[name] ?? now;
      return [name, { lines: Math.min(limit.lines, now.lines), files: Math.min(limit.files, now.files) }];
    }),
  );
}

async function main(): Promise<void> {
  const limits = await readLimits().catch(() => ({}));
  const rows = Object.entries(lowered(limits, await measureRooms())).map(
    ([name, { lines, files }]) => `  ${JSON.stringify(name)}: { "lines": ${lines}, "files": ${files} }`,
  );
  await writeFile(LIMITS, `{\n${rows.join(',\n')}\n}\n`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main();
