import { chmod, stat } from 'node:fs/promises';

const OTHERS_READ = 0o044;

/** Whether other users of the machine can read a file; on Windows, rights say nothing about that. */
export async function isOpenToOthers(path: string): Promise<boolean> {
  if (process.platform === 'win32') return false;
  const info = await stat(path).catch(() => undefined);
  return info?.isFile() === true && (info.mode & OTHERS_READ) !== 0;
}

/** Leaves it to its owner alone. */
export async function makePrivate(path: string): Promise<void> {
  await chmod(path, 0o600);
}
