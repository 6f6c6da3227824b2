import * as z from 'zod';
import { fold } from '../../base/text/suggest.ts';
import { isListed, shortName, type BmadRecord } from '../../model/record.ts';
import { defineOperation } from '../operation.ts';

/** For programs: the records of all origins, as the master manifest shows them, and which of them is served. */
export const queryRecords = defineOperation({
  name: 'query_records',
  title: 'Query records',
  description: 'Records of all origins by kind, module, name and origin, each with whether it is served.',
  effect: 'read',
  input: z.strictObject({
    kind: z.string().min(1).max(40).optional().describe('e.g. agent, workflow, task'),
    module: z.string().min(1).max(100).optional().describe('Code of a module'),
    name: z.string().min(1).max(5_000).optional().describe('Id, short name or alias'),
    origin: z.string().min(1).max(1_000).optional().describe('Kind or name of an origin'),
    served: z.boolean().optional().describe('Only what is offered, or only what is not'),
  }),
  output: z.object({ records: z.array(z.record(z.string(), z.unknown())) }),

  async run({ kind, module, name, origin, served }, context) {
    const { catalogue, delivery } = await context.workspace();
    const winners = new Set(catalogue.winners);
    const isServed = (record: BmadRecord): boolean => winners.has(record) && isListed(record);
    const same = (wanted: string | undefined, ...values: readonly string[]): boolean =>
      wanted === undefined || values.some((value) => fold(value) === fold(wanted));
    const found = catalogue.records.filter(
      (record) =>
        same(kind, record.kind) &&
        same(module, record.moduleName) &&
        same(name, record.name, shortName(record.name), ...record.aliases) &&
        same(origin, record.origin.kind, record.origin.displayName) &&
        (served === undefined || isServed(record) === served),
    );
    const shown = await delivery.masterRecords(found);
    return {
      records: found.map((record, at) => ({ ...shown[at], served: isServed(record) })),
    };
  },

  render: ({ records }) => ({ body: JSON.stringify(records) }),
});
