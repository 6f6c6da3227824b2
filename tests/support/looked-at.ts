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
