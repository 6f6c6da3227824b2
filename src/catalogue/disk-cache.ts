import { join } from 'node:path';
import {
  readStateBytes,
  removeTree,
  sizeAndTime,
  stateNames,
  writeAtomic,
} from '../base/files/file-state.ts';
import { madePrivate } from '../base/files/user-cache.ts';
import { breath, once } from '../base/async.ts';
import { orElse } from '../base/errors.ts';
import { VERSION } from '../base/product.ts';
import { sha256 } from '../base/values.ts';

/** A file that would be larger is not worth keeping. */
const MOST_BYTES = 256 * 1024 * 1024;
/** The newest, in each folder. */
export const MOST_FILES = 24;
export const MOST_FOLDER_BYTES = 512 * 1024 * 1024;
/** Other names in the folder are not ours. */
const NAME = /^[0-9a-f]{32}$/;

/**
 * What is kept, each in a folder of its own: what was read of sources, and indexes for the search. The number is increased
 * when a file has another form, or other content from the same texts.
 */
const FORMS = { catalogue: 'bmad catalogue 3', search: 'bmad search 3' } as const;
export const KEPT_PARTS = Object.keys(FORMS) as (keyof typeof FORMS)[];

export type DiskCache = ReturnType<typeof diskCache>;

export interface KeptFile {
  size: number;
  mtimeMs: number;
  /** The next who needs one that is not whole makes it again. */
  is: 'whole' | 'damaged' | 'of another version';
}

/**
 * Files of the user's cache folder, for what can always be made again. Each begins with its form and a digest of the rest,
 * is written beside and renamed, and counts as missing when it is damaged. The oldest go when there are too many, or they
 * take too much room.
 */
export function diskCache(cache: string, part: (typeof KEPT_PARTS)[number]) {
  const folder = join(cache, part);
  const form = FORMS[part];
  // A digest is not a signature: anyone else who can write here could choose what models read.
  const isOurs = once(async () => madePrivate(folder));

  async function read(name: string): Promise<Buffer | undefined> {
    if (!(await isOurs())) return undefined;
    try {
      const bytes = await readStateBytes(join(folder, name), { maxBytes: MOST_BYTES });
      return bytes === undefined || stateOf(bytes, form) !== 'whole' ? undefined : bodyOf(bytes);
    } catch {
      return undefined;
    }
  }

  async function all(): Promise<{ path: string; name: string; size: number; mtimeMs: number }[]> {
    const files: { path: string; name: string; size: number; mtimeMs: number }[] = [];
    // A folder that cannot be looked into keeps nothing.
    const names = await stateNames(folder).catch(orElse([]));
    for (const name of names.filter((each) => NAME.test(each))) {
      const path = join(folder, name);
      const found = await sizeAndTime(path);
      if (found !== undefined) files.push({ path, name, ...found });
    }
    return files.sort((a, b) => b.mtimeMs - a.mtimeMs);
  }

  async function sweep(): Promise<void> {
    let room = MOST_FOLDER_BYTES;
    for (const [index, { path, size }] of (await all()).entries()) {
      room -= size;
      if (index >= MOST_FILES || room < 0) await removeTree(path);
    }
  }

  return {
    folder,
    /** What was kept under a name, if it is whole. */
    read,
    /** Keeps something, and says whether it is kept. */
    async write(name: string, body: Buffer): Promise<boolean> {
      const head = Buffer.from(`${form} ${sha256(body)}\n`);
      if (head.length + body.length > MOST_BYTES || !(await isOurs())) return false;
      await writeAtomic(join(folder, name), Buffer.concat([head, body]));
      await sweep();
      return true;
    },
    /** All that is there, the newest first; each is read to see whether it is whole. */
    async survey(): Promise<KeptFile[]> {
      const files: KeptFile[] = [];
      for (const { path, size, mtimeMs } of await all()) {
        await breath();
        const bytes = await readStateBytes(path, { maxBytes: MOST_BYTES }).catch(orElse(undefined));
        files.push({ size, mtimeMs, is: bytes === undefined ? 'damaged' : stateOf(bytes, form) });
      }
      return files;
    },
    /** Removes all of them and says how much that was. */
    async clear(): Promise<{ files: number; bytes: number }> {
      const files = await all();
      for (const { path } of files) await removeTree(path);
      return { files: files.length, bytes: files.reduce((sum, { size }) => sum + size, 0) };
    },
  };
}

/** Changes with every build: another one understands the same content differently. */
export async function buildMark(builtIn: string): Promise<string> {
  const build = await sizeAndTime(join(builtIn, 'catalogue.json'));
  return `${VERSION} ${build?.mtimeMs} ${build?.size}`;
}

const HEAD = /^bmad [a-z]+ \d+ [0-9a-f]{64}$/;

function stateOf(bytes: Buffer, form: string): KeptFile['is'] {
  const head = bytes.toString('latin1', 0, Math.max(0, bytes.indexOf('\n')));
  if (HEAD.test(head) && !head.startsWith(`${form} `)) return 'of another version';
  return head === `${form} ${sha256(bodyOf(bytes))}` ? 'whole' : 'damaged';
}

/** What comes after the head. */
const bodyOf = (bytes: Buffer): Buffer => bytes.subarray(bytes.indexOf('\n') + 1);
