import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** The number of a process that has ended. */
export async function endedProcess(): Promise<number> {
  const child = spawn(process.execPath, ['-e', ''], { stdio: 'ignore' });
  await once(child, 'close');
  return child.pid ?? 0;
}
