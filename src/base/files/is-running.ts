import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { systemCode } from '../errors.ts';

/** Whether a process is running, by its number in this space; one of another user counts as running. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) === 'EPERM';
  }
}

/** Whether it is certain that a process has ended: a number means nothing in another space. */
export function hasEnded(pid: number, space: unknown): boolean {
  return space === processSpace() && !isRunning(pid);
}

/** The programs consist of several files, each with its own copy of this one. */
const KNOWN = Symbol.for('bmad-mcp-server: where the numbers of processes count');
const known = globalThis as { [KNOWN]?: string };

/**
 * Where the numbers of processes are those that this process sees. Containers and sandboxes have numbers of their own,
 * often with the name of the machine they are on; WSL has those of Linux. As a digest, because it is written into projects.
 */
export function processSpace(): string {
  return (known[KNOWN] ??= createHash('sha256').update(spaceName()).digest('hex').slice(0, 16));
}

function spaceName(): string {
  const { platform, pid } = process;
  if (platform !== 'linux') return `${platform} ${hostname()}`;
  try {
    return `${readlinkSync('/proc/self/ns/pid')} ${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')}`;
  } catch {
    // Nobody can tell, so this process is alone.
    return `${hostname()} ${pid} ${performance.timeOrigin}`;
  }
}
