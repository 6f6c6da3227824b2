import table from '../../../assets/names/file-systems.json' with { type: 'json' };
import { readFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';

/**
 * File systems of Linux by the numbers that the kernel gives them. Far are those where processes on different machines, or inside
 * and outside of a virtual one, do not share memory; telling those whose changes all come through the kernel, which tells of each.
 */
const { far, telling }: Record<'far' | 'telling', Readonly<Record<string, string>>> = table;

/** Some machines report the number as signed. */
const numberOf = (type: bigint): string => `0x${BigInt.asUintN(32, type).toString(16)}`;

/** The name of a remote file system; undefined for a local one, or when in doubt. */
export const farFileSystem = (type: bigint): string | undefined => far[numberOf(type)];

/** The remote file system that a folder is on. Only Linux reports it; elsewhere a network path is known by its form. */
export async function farFolder(path: string): Promise<string | undefined> {
  if (path.startsWith('\\\\')) return 'SMB';
  if (process.platform !== 'linux') return undefined;
  return statfs(path, { bigint: true }).then(
    ({ type }) => farFileSystem(type),
    () => undefined,
  );
}

/** Whether all that happens in a folder is told by the time that somebody who has made it happen can ask. */
export async function tellsAtOnce(path: string, platform: NodeJS.Platform): Promise<boolean> {
  if (platform !== 'linux') return false;
  return statfs(path, { bigint: true }).then(
    ({ type }) => numberOf(type) in telling,
    () => false,
  );
}

/** How many folders the system lets all programs of a user watch together. Only Linux counts them. */
export function watchesAllowed(): number {
  try {
    const allowed = Number(readFileSync('/proc/sys/fs/inotify/max_user_watches', 'latin1'));
    return allowed > 0 ? allowed : Infinity;
  } catch {
    return Infinity;
  }
}
