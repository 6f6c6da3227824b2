import { createRequire, syncBuiltinESMExports } from 'node:module';
import { hostname } from 'node:os';

type Method = (...args: unknown[]) => unknown;
const promises = createRequire(import.meta.url)('node:fs/promises') as Record<string, Method>;

const CHANGING = ['mkdir', 'rename', 'rm', 'chmod', 'utimes', 'copyFile', 'writeFile', 'symlink'];
const OF_HANDLES = ['write', 'writeFile', 'sync', 'chmod'];

/**
 * Runs an action as if the process were killed at its n-th change of the disk: that change is not made, or only by half
 * if it is a write and `torn`, and neither is any later one. Answers whether it came that far.
 */
export async function dyingAt(n: number, torn: boolean, action: () => Promise<unknown>): Promise<boolean> {
  const real = new Map(['open', ...CHANGING].map((name) => [name, promises[name] as Method]));
  const handle = (await (real.get('open') as Method)(import.meta.filename, 'r')) as {
    close(): Promise<void>;
  };
  const prototype = Object.getPrototypeOf(handle) as Record<string, Method>;
  await handle.close();
  const ofHandles = new Map(OF_HANDLES.map((name) => [name, prototype[name] as Method]));
  let count = 0;
  const dead = (): boolean => ++count >= n;
  for (const name of CHANGING)
    promises[name] = async (...args) => {
      if (dead()) throw new Error('killed');
      return (real.get(name) as Method)(...args);
    };
  promises['open'] = async (...args) => {
    const writes = typeof args[1] === 'number' ? (args[1] & 3) !== 0 : args[1] !== 'r';
    if (writes && dead()) throw new Error('killed');
    return (real.get('open') as Method)(...args);
  };
  for (const name of OF_HANDLES)
    prototype[name] = async function (this: unknown, ...args: unknown[]) {
      const original = ofHandles.get(name) as Method;
      if (!dead()) return original.apply(this, args);
      if (torn && count === n && typeof args[0] === 'string')
        await original.apply(this, [args[0].slice(0, args[0].length / 2)]);
      throw new Error('killed');
    };
  syncBuiltinESMExports();
  try {
    await action();
  } catch (error) {
    if (count < n) throw error;
  } finally {
    for (const [name, method] of real) promises[name] = method;
    for (const [name, method] of ofHandles) prototype[name] = method;
    syncBuiltinESMExports();
  }
  return count >= n;
}

/** What the lock of a process says that is no more, for the next one to find. */
export const DEAD_HOLDER = JSON.stringify({ pid: 2 ** 30, host: hostname(), token: 'gone' });
