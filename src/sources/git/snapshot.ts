import { t } from '../../base/text/message.ts';
import { dirname, join, posix } from 'node:path';
import { canBeNamed } from '../../base/files/paths.ts';
import { sha256 } from '../../base/values.ts';
import { BmadError } from '../../base/errors.ts';
import { writeLink, writeNew } from '../../base/files/file-state.ts';
import { ensureFolder } from '../../base/files/file-modes.ts';
import type { GitAddress } from './address.ts';
import type { Fetching } from './repository.ts';

export interface Written {
  /** SHA-256 over kind, content and path of every file: the same on every machine. */
  digest: string;
  files: number;
  bytes: number;
  /** What the commit holds and is not served, and why. */
  skipped: string[];
}

interface Entry {
  mode: string;
  id: string;
  size: number;
  path: string;
}

const MAX_FILES = 50_000;
const MAX_BYTES = 512 * 1024 * 1024;
const LINK = '120000';
const SUBMODULE = '160000';

/**
 * Writes the files of a commit into a new folder, straight from the objects: there is no checkout, so no attribute,
 * filter, hook or line-ending setting affects the bytes.
 */
export async function writeSnapshot(
  fetching: Fetching,
  repository: string,
  commit: string,
  folder: string,
): Promise<Written> {
  const entries = await entriesOf(fetching, repository, commit);
  const written: Written = { digest: '', files: 0, bytes: 0, skipped: [] };
  const links = new Set(entries.filter(({ mode }) => mode === LINK).map(({ path }) => path.toLowerCase()));
  const wanted = entries.filter((entry) => isWanted(entry, links, written.skipped));
  const size = wanted.reduce((sum, { size: bytes }) => sum + bytes, 0);
  if (size > MAX_BYTES) throw tooLarge(fetching.address, `${Math.round(size / 1e6)} MB`);
  await ensureFolder(folder);
  const lines: string[] = [];
  await readObjects(fetching, repository, wanted, async ({ mode, path }, content) => {
    const place = join(folder, path);
    await ensureFolder(dirname(place));
    lines.push(`${mode === LINK ? 'link' : 'file'} ${sha256(content)} ${path}\n`);
    if (mode === LINK) {
      const target = content.toString('utf8');
      if (staysInside(path, target)) await writeLink(place, target);
      else written.skipped.push(t`${path}: a link that points outside`);
      return;
    }
    if (!(await writeNew(place, content))) {
      written.skipped.push(t`${path}: on this disk, its name clashes with another`);
      return;
    }
    written.files += 1;
    written.bytes += content.length;
  });
  written.digest = `sha256:${sha256(Buffer.from(lines.sort().join('')))}`;
  return written;
}

async function entriesOf(
  { git, address, options }: Fetching,
  repository: string,
  commit: string,
): Promise<Entry[]> {
  const parts: Buffer[] = [];
  const tree = address.subpath === undefined ? commit : `${commit}:${address.subpath}`;
  try {
    const count = async (output: AsyncIterable<Buffer>): Promise<void> => {
      let entries = 0;
      for await (const chunk of output) {
        parts.push(chunk);
        for (const byte of chunk) if (byte === 0) entries += 1;
        // A small repository can name one tree a million times.
        if (entries > MAX_FILES) throw tooLarge(address, t`more than ${MAX_FILES} files`);
      }
    };
    await git.tree(repository, tree, count, options);
  } catch (error) {
    if (error instanceof BmadError && error.code === 'too_large') throw error;
    if (address.subpath === undefined || !(error instanceof BmadError)) throw error;
    throw new BmadError(
      'not_found',
      t`${address.url} has no folder ${JSON.stringify(address.subpath)} in ${commit.slice(0, 12)} (the subpath of the source).`,
      {
        subject: address.source,
        hint: t`Check the part after ":/"; it is a folder path from the root of the repository.`,
        cause: error,
      },
    );
  }
  return Buffer.concat(parts)
    .toString('utf8')
    .split('\0')
    .flatMap((line) => {
      const match = /^(\d{6}) \w+ ([0-9a-f]{40,64}) +(\d+|-)\t([^]+)$/.exec(line);
      if (match === null) return [];
      const [, mode = '', id = '', size, path = ''] = match;
      return [{ mode, id, size: Number(size) || 0, path }];
    });
}

function isWanted({ mode, path }: Entry, links: ReadonlySet<string>, skipped: string[]): boolean {
  if (mode === SUBMODULE) {
    skipped.push(t`${path}: a submodule`);
    return false;
  }
  const parts = path.split('/');
  const dangerous = parts.some(
    (part) => part === '' || part === '.' || part === '..' || /^\.git$/i.test(part),
  );
  // Nothing is ever written through a link. No honest tree has a file below one; a forged tree can.
  const behindLink = parts.some((_, depth) => links.has(parts.slice(0, depth).join('/').toLowerCase()));
  if (!dangerous && !behindLink && canBeNamed(path)) return true;
  skipped.push(t`${JSON.stringify(path)}: a name that is not served`);
  return false;
}

function tooLarge({ source }: GitAddress, size: string): BmadError {
  return new BmadError(
    'too_large',
    t`${source} has ${size}; the limit is ${MAX_FILES} files and ${Math.round(MAX_BYTES / 1e6)} MB.`,
    { subject: source, hint: t`Name the folder with the BMAD content: #ref:/subpath.` },
  );
}

/** Whether a link, followed by its words alone, ends inside the folder. Reading it is checked again, on the disk. */
function staysInside(path: string, target: string): boolean {
  if (target === '' || /^[/\\]|\\|\0|^[a-z]:/i.test(target)) return false;
  const end = posix.normalize(posix.join(posix.dirname(path), target));
  return end !== '..' && !end.startsWith('../');
}

/** Hands over the content of every entry in turn, from one run of git. */
async function readObjects(
  { git, options }: Fetching,
  repository: string,
  entries: readonly Entry[],
  take: (entry: Entry, content: Buffer) => Promise<void>,
): Promise<void> {
  if (entries.length === 0) return;
  const ids = entries.map(({ id }) => id);
  await git.objects(
    repository,
    ids,
    async (output) => {
      const bytes = new ByteReader(output[Symbol.asyncIterator]());
      for (const [index, entry] of entries.entries()) {
        const [id, type, size] = (await bytes.line()).split(' ');
        if (id !== entry.id || type !== 'blob') throw new Error(t`git does not have ${entry.id}`);
        await take(entry, await bytes.exactly(Number(size)));
        await bytes.exactly(1);
        if (index % 500 === 499) options.progress?.(t`${index + 1} of ${entries.length} files written`);
      }
    },
    options,
  );
}

/** Takes lines and counted bytes from a stream of chunks. */
class ByteReader {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest = Buffer.alloc(0);

  constructor(chunks: AsyncIterator<Buffer>) {
    this.#chunks = chunks;
  }

  async line(): Promise<string> {
    let end = this.#rest.indexOf(10);
    while (end === -1) {
      await this.#more();
      end = this.#rest.indexOf(10);
    }
    const line = this.#rest.subarray(0, end).toString('utf8');
    this.#rest = this.#rest.subarray(end + 1);
    return line;
  }

  async exactly(count: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    let missing = count;
    while (missing > this.#rest.length) {
      parts.push(this.#rest);
      missing -= this.#rest.length;
      this.#rest = Buffer.alloc(0);
      await this.#more();
    }
    parts.push(this.#rest.subarray(0, missing));
    this.#rest = this.#rest.subarray(missing);
    return parts.length === 1 ? (parts[0] ?? Buffer.alloc(0)) : Buffer.concat(parts);
  }

  async #more(): Promise<void> {
    const { value, done } = await this.#chunks.next();
    if (done === true) throw new Error('the output of git ended early');
    this.#rest = this.#rest.length === 0 ? Buffer.from(value) : Buffer.concat([this.#rest, value]);
  }
}
