import { cpSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Writes files below a folder, with the folders they need; a path that ends in a slash is an empty folder. */
export async function writeFiles(
  root: string,
  files: Readonly<Record<string, string | Buffer>>,
): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    const place = join(root, path);
    await mkdir(path.endsWith('/') ? place : dirname(place), { recursive: true });
    if (!path.endsWith('/')) await writeFile(place, content);
  }
}

/** Makes a link to a folder, in the way that needs no special right on Windows. */
export async function linkFolder(target: string, place: string): Promise<void> {
  await mkdir(dirname(place), { recursive: true });
  await symlink(target, place, 'junction');
}

/** Copies a folder with all that is in it. With promises, many small files take five times as long. */
export function copyFolder(from: string, to: string): void {
  cpSync(from, to, { recursive: true, preserveTimestamps: true });
}
