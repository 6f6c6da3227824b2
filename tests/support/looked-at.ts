import { createRequire, syncBuiltinESMExports } from 'node:module';
import type { BmadRecord } from '../../src/model/record.ts';

/** Counts how often something of the records is looked at: what grows faster than their number shows here. */
export function countingLooks(records: readonly BmadRecord[]): {
  records: BmadRecord[];
  looks: () => number;
} {
  let count = 0;
  const counting: ProxyHandler<BmadRecord> = {
    get(record, key) {
      count += 1;
      return Reflect.get(record, key) as unknown;
    },
  };
  return { records: records.map((record) => new Proxy(record, counting)), looks: () => count };
}

type Stat = 'statSync' | 'lstatSync';
const fs = createRequire(import.meta.url)('node:fs') as Record<Stat, (...given: unknown[]) => unknown>;

/** How often files are looked at while something is done. */
export async function fileLooks<T>(work: () => Promise<T>): Promise<{ result: T; count: number }> {
  let count = 0;
  const result = await withStats((found) => {
    count += 1;
    return found;
  }, work);
  return { result, count };
}

/** As on a disk whose files have no numbers, and times of so many seconds. */
export const onPoorDisk = <T>(seconds: number, work: () => Promise<T>): Promise<T> =>
  withStats((found) => {
    if (typeof found !== 'object' || found === null) return found;
    const { mtimeMs, ctimeMs } = found as { mtimeMs: number; ctimeMs: number };
    const coarse = (ms: number): number => ms - (ms % (seconds * 1_000));
    return Object.assign(found, { ino: 0, mtimeMs: coarse(mtimeMs), ctimeMs: coarse(ctimeMs) });
  }, work);

/** As on a machine whose clock has jumped by so much: it tells another time, and so does all that is written from now on. */
export async function afterJump<T>(ms: number, work: () => Promise<T>): Promise<T> {
  const { now } = Date;
  // The times of files are taken from a clock that goes by steps of some milliseconds.
  const since = now() - 20;
  Date.now = () => now() + ms;
  const jumped = (at: number): number => (at < since ? at : at + ms);
  return withStats((found) => {
    if (typeof found !== 'object' || found === null) return found;
    const { mtimeMs, ctimeMs } = found as { mtimeMs: number; ctimeMs: number };
    return Object.assign(found, { mtimeMs: jumped(mtimeMs), ctimeMs: jumped(ctimeMs) });
  }, work).finally(() => void (Date.now = now));
}

/** At the very moment in which the file was written, however busy the machine is. */
export function asItIsWritten<T>(file: string, work: () => T): T {
  const { now } = Date;
  const { ctimeMs } = fs.statSync(file) as { ctimeMs: number };
  Date.now = () => ctimeMs;
  try {
    return work();
  } finally {
    Date.now = now;
  }
}

async function withStats<T>(seen: (found: unknown) => unknown, work: () => Promise<T>): Promise<T> {
  const own = { statSync: fs.statSync, lstatSync: fs.lstatSync };
  const through =
    (name: Stat) =>
    (...given: unknown[]) =>
      seen(own[name](...given));
  Object.assign(fs, { statSync: through('statSync'), lstatSync: through('lstatSync') });
  syncBuiltinESMExports();
  try {
    return await work();
  } finally {
    Object.assign(fs, own);
    syncBuiltinESMExports();
  }
}
