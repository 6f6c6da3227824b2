import { systemCode } from '../errors.ts';

/** Whether a process is running on this machine; one of another user counts as running. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) === 'EPERM';
  }
}
