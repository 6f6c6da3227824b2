import { readFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';

/**
 * File systems of Linux where processes on different machines, or inside and outside of a virtual one, do not share
 * memory: by the numbers that the kernel gives them.
 */
const FAR_FILE_SYSTEMS: ReadonlyMap<bigint, string> = new Map([
  [0x6969n, 'NFS'],
  [0x517bn, 'SMB'],
  [0xff534d42n, 'CIFS'],
  [0xfe534d42n, 'SMB 2'],
  [0x01021997n, '9p'],
  [0x65735546n, 'FUSE'],
  [0x00c36400n, 'Ceph'],
  [0x5346414fn, 'OpenAFS'],
  [0x6b414653n, 'AFS'],
  [0x73757245n, 'Coda'],
  [0x0bd00bd0n, 'Lustre'],
  [0x47504653n, 'GPFS'],
  [0x01161970n, 'GFS2'],
  [0x7461636fn, 'OCFS2'],
  [0x786f4256n, 'a VirtualBox shared folder'],
  [0xbacbacbcn, 'a VMware shared folder'],
  [0x7c7c6673n, 'a Parallels shared folder'],
]);

/** The name of a remote file system; undefined for a local one, or when in doubt. */
export function farFileSystem(type: bigint): string | undefined {
  // Some machines report the number as signed.
  return FAR_FILE_SYSTEMS.get(BigInt.asUintN(32, type));
}

/** The remote file system that a folder is on. Only Linux reports it; elsewhere a network path is known by its form. */
export async function farFolder(path: string): Promise<string | undefined> {
  if (path.startsWith('\\\\')) return 'SMB';
  if (process.platform !== 'linux') return undefined;
  return statfs(path, { bigint: true }).then(
    ({ type }) => farFileSystem(type),
    () => undefined,
  );
}

/** File systems of Linux whose changes all come through its kernel, which tells of each as it happens. */
const TELLING_FILE_SYSTEMS: ReadonlySet<bigint> = new Set([
  0xef53n, // ext2 to ext4
  0x58465342n, // XFS
  0x9123683en, // Btrfs
  0x01021994n, // tmpfs
  0x794c7630n, // overlay, as containers have it
  0xf2f52010n, // F2FS
  0x2fc12fc1n, // ZFS
  0xca451a4en, // bcachefs
]);

/** Whether all that happens in a folder is told by the time that somebody who has made it happen can ask. */
export async function tellsAtOnce(path: string, platform: NodeJS.Platform): Promise<boolean> {
  if (platform !== 'linux') return false;
  return statfs(path, { bigint: true }).then(
    ({ type }) => TELLING_FILE_SYSTEMS.has(BigInt.asUintN(32, type)),
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
