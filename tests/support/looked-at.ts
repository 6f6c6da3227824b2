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
  const own = { statSync: fs.statSync, lstatSync: fs.lstatSync };
  let count = 0;
  const counted =
    (name: Stat) =>
    (...given: unknown[]) => {
      count += 1;
      return own[name](...given);
    };
  Object.assign(fs, { statSync: counted('statSync'), lstatSync: counted('lstatSync') });
  syncBuiltinESMExports();
  try {
    return { result: await work(), count };
  } finally {
    Object.assign(fs, own);
    syncBuiltinESMExports();
  }
}
