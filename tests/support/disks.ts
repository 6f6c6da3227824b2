import { execFile } from 'node:child_process';
import { chmod, mkdir } from 'node:fs/promises';
import { promisify } from 'node:util';
import { temporaryFolder } from './app.ts';

/** Folders on disks that refuse: real file systems where this user may mount any. */

const run = promisify(execFile);
type OnEnd = (cleanUp: () => Promise<void>) => void;

async function tells(command: string, ...args: string[]): Promise<boolean> {
  return run(command, args).then(
    () => true,
    () => false,
  );
}

/** Makes a folder and all in it read-only until the test is over. For root, permissions do not count but mounts do. */
export async function makeReadOnly(folder: string, onEnd: OnEnd): Promise<boolean> {
  if (process.getuid?.() !== 0) {
    await chmod(folder, 0o500);
    onEnd(() => chmod(folder, 0o700));
    return process.platform !== 'win32';
  }
  if (!(await tells('mount', '--bind', folder, folder))) return false;
  onEnd(async () => void (await tells('umount', '-l', folder)));
  return tells('mount', '-o', 'remount,ro,bind', folder);
}

/** A file system of its own with little room, also in place of a folder; nothing where this user may not mount one. */
export async function smallDisk(
  kilobytes: number,
  onEnd: OnEnd,
  place?: string,
): Promise<string | undefined> {
  const folder = place ?? `${await temporaryFolder(onEnd)}/disk`;
  await mkdir(folder, { recursive: true });
  if (!(await tells('mount', '-t', 'tmpfs', '-o', `size=${kilobytes}k`, 'tmpfs', folder))) return undefined;
  onEnd(async () => void (await tells('umount', '-l', folder)));
  return folder;
}
