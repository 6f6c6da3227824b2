import { readFileSync, statfsSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';

/** What a whole run writes at one time is far less. */
const ROOM = 2 * 1024 ** 3;

/**
 * Where tests make their folders. In memory where a Linux machine has much of it to spare: most of what is written there
 * is synced for safety and removed a moment later, and tests would wait for the disk. `TMPDIR` decides where it is set.
 */
export function scratchFolder(): string {
  if (process.env['TMPDIR'] !== undefined || process.platform !== 'linux') return tmpdir();
  try {
    const mounts = readFileSync('/proc/mounts', 'utf8').split('\n');
    const [, , type, options] =
      mounts.findLast((line) => line.split(' ')[1] === '/dev/shm')?.split(' ') ?? [];
    if (type !== 'tmpfs' || options === undefined || /\b(?:noexec|ro)\b/.test(options)) return tmpdir();
    const { bavail, bsize } = statfsSync('/dev/shm');
    return Math.min(bavail * bsize, freemem() / 2) >= ROOM ? '/dev/shm' : tmpdir();
  } catch {
    return tmpdir();
  }
}
