import { SERVER_PROGRAM, VERSION } from '../../src/base/product.ts';
import { cpSync, rmSync } from 'node:fs';
import { lstat, readdir, rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';

/** Everything that a writer touches: a project, and the folder of its user. */
export interface Scene {
  folder: string;
  project: string;
  state: string;
}

/** One kind of write, as a process does it that begins with nothing but what is on the disk. */
export interface Writer {
  name: string;
  /** What is there before. */
  prepare(scene: Scene): Promise<unknown>;
  /** Opens, writes and closes. It is called with `first` on the disk that fails, and with `second` afterwards. */
  act(scene: Scene, what: string): Promise<unknown>;
  /** What somebody finds who opens it now, one text for each thing. */
  read(scene: Scene): Promise<string[]>;
  /** What is wrong although everything has been written and repaired. */
  wrong?(scene: Scene): Promise<string[]>;
  /** Whether one write takes so long that only some of its calls are tried by default. */
  slow?: boolean;
}

export const sceneIn = (folder: string): Scene => ({
  folder,
  project: join(folder, 'project'),
  state: join(folder, 'state'),
});

/** A store that was closed may take its log away a little later: when the driver's statements are collected. */
export async function copyFolder(from: string, to: string, tries = 5): Promise<void> {
  try {
    cpSync(from, to, { recursive: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || tries === 1) throw error;
    await rm(to, { recursive: true, force: true });
    await copyFolder(from, to, tries - 1);
  }
}

/** Makes a scene as another one is. The paths in it stay right: it is always the same folder that is made again. */
export async function remake(scene: Scene, model: string): Promise<void> {
  // At once: with promises, this would take most of the time of thousands of trials.
  rmSync(scene.folder, { recursive: true, force: true });
  await copyFolder(model, scene.folder);
  forgetSweeps();
}

/** Another process would look at once for what was left behind; this one has just done so. */
function forgetSweeps(): void {
  delete (globalThis as Record<symbol, unknown>)[Symbol.for(`${SERVER_PROGRAM} ${VERSION}: swept folders`)];
}

/** Drafts and locks, also of folders. */
const LEFT = /\.tmp$|\.lock$|\.takeover$|(?:^|\/)\.drafts\/|(?:^|\/)work\/./;
/** Notes about work that is not complete, which the next one to open completes. */
const NOTE = /(?:^|\/)unfinished\/./;

/** A process that was killed before it wrote its first line has begun a file; the next one begins another. */
const BEGUN = /\d{4}-\d\d-\d\d\/[\w-]+\.jsonl$/;

/** What no one needs any more: drafts, locks, notes, and files that were made but not written. */
export async function leftovers(
  { folder }: Scene,
  { notes, model }: { notes: boolean; model: string },
): Promise<string[]> {
  const names = await readdir(folder, { recursive: true });
  const known = new Set(notes ? [] : await readdir(model, { recursive: true }));
  const left = names.filter((name) => !known.has(name) && (LEFT.test(name) || (notes && NOTE.test(name))));
  for (const name of names) {
    const info = await lstat(join(folder, name)).catch(() => undefined);
    if (
      info?.isFile() !== true ||
      info.size > 0 ||
      left.includes(name) ||
      /\.wanted$|\.db-wal$/.test(name) ||
      BEGUN.test(name)
    )
      continue;
    const before = await lstat(join(model, name)).catch(() => undefined);
    if (before?.size !== 0) left.push(`${name} (empty)`);
  }
  return left.sort();
}

/** As if whoever left this had died an hour ago. */
export async function age({ folder }: Scene): Promise<void> {
  const then = new Date(Date.now() - 3_600_000);
  for (const name of await readdir(folder, { recursive: true }))
    if (LEFT.test(name) || NOTE.test(name))
      await utimes(join(folder, name), then, then).catch(() => undefined);
  forgetSweeps();
}
