import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { systemCode } from '../errors.ts';
import { shortDigest } from '../values.ts';

/** What tells a process from every other one: its number, where such numbers count, and when it began. */
export interface ProcessName {
  pid: number;
  space: string;
  /** Only Linux tells without a program. */
  start?: string | undefined;
}

/** Whether a process is running, by its number in this space; one of another user counts as running. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) === 'EPERM';
  }
}

/** Whether it is certain that a process has ended: a number means nothing in another space, and is given again in this one. */
export function hasEnded({ pid, space, start }: ProcessName): boolean {
  if (pid === 0 || space !== processSpace()) return false;
  if (!isRunning(pid)) return true;
  const now = startOf(pid);
  return start !== undefined && now !== undefined && start !== now;
}

/** The programs consist of several files, each with its own copy of this one. */
const KNOWN = Symbol.for('bmad-mcp-server: the name of this process');
const known = globalThis as { [KNOWN]?: ProcessName };

export function thisProcess(): ProcessName {
  return (known[KNOWN] ??= {
    pid: process.pid,
    space: shortDigest(spaceName()),
    start: startOf('self'),
  });
}

/**
 * Where the numbers of processes are those that this process sees, since the machine was started. Containers and sandboxes
 * have numbers of their own, often with the name of the machine they are on; WSL has those of Linux. As a digest, because
 * it is written into projects.
 */
export const processSpace = (): string => thisProcess().space;

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

/** The process that a file names, which anyone may have written; what it does not say is of no space. */
export function processIn(said: Record<string, unknown> | undefined): ProcessName {
  const { pid, space, start } = said ?? {};
  return {
    pid: Number.isSafeInteger(pid) && Number(pid) > 0 ? Number(pid) : 0,
    space: typeof space === 'string' ? space : '',
    start: typeof start === 'string' ? start : undefined,
  };
}

/** When a process began, counted from the start of the machine: no change of the clock touches it. */
export function startOf(pid: number | 'self'): string | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    // A sandbox may show the processes of another space, where this number belongs to somebody else.
    if (pid !== 'self' && readlinkSync('/proc/self') !== String(process.pid)) return undefined;
    const about = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the name of the program, which may have blanks and brackets in it; the 22nd is the time.
    return about.slice(about.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}
