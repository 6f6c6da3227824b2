import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';

/** Linux counts CPU time for programs in hundredths of a second, whatever its own clock does. */
const MILLISECONDS_A_TICK = 10;
const KIBIBYTES_A_MEBIBYTE = 1024;

/** CPU time of a process so far, of all its threads; nothing where there is no /proc. */
export function cpuMilliseconds(pid: number): number | undefined {
  const stat = procFile(pid, 'stat');
  if (stat === undefined) return undefined;
  // The program's name is in parentheses and may have spaces in it, so the fields are counted from after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * MILLISECONDS_A_TICK;
}

/** The same to a fraction of a millisecond, of the threads that are still there; zero where there is no /proc. */
export function processorMilliseconds(pid: number): number {
  if (process.platform !== 'linux') return 0;
  return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => {
    const [nanoseconds = 0] = (procFile(pid, `task/${thread}/schedstat`) ?? '').split(' ').map(Number);
    return sum + nanoseconds / 1e6;
  }, 0);
}

/** Resident memory of a process in MiB; nothing where there is no /proc. */
export function residentMebibytes(pid: number): number | undefined {
  const kibibytes = /^VmRSS:\s+(\d+)/m.exec(procFile(pid, 'status') ?? '')?.[1];
  return kibibytes === undefined ? undefined : Number(kibibytes) / KIBIBYTES_A_MEBIBYTE;
}

function procFile(pid: number, name: string): string | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return undefined;
  }
}

const LOOK_MS = 1_000;
/** Less processor time than this in between is rest. */
const RESTING_MS = 50;

/** Until a program has done what it does by itself after its first answers: the calls after that are warm. */
export async function atRest({ pid }: { pid: number }): Promise<void> {
  for (let used = cpuMilliseconds(pid) ?? 0; ;) {
    await setTimeout(LOOK_MS);
    const now = cpuMilliseconds(pid) ?? 0;
    if (now - used < RESTING_MS) return;
    used = now;
  }
}
