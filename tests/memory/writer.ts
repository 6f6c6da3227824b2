import { JsonlStore } from '../../src/services/memory/jsonl/store.ts';
import { openSqliteStore } from '../../src/services/memory/sqlite/store.ts';
import { memory, storeOptions } from './places.ts';

/**
 * A process that writes memories one by one and says on standard output which it has been told are stored:
 * `writer ENGINE FILE NAME COUNT`. Every second one has an id that all writers share.
 */
const [engine, file = '', name = '', count = '0'] = process.argv.slice(2);

const store =
  engine === 'jsonl'
    ? new JsonlStore({ ...storeOptions(), file })
    : await openSqliteStore({ ...storeOptions(), file });

for (let index = 0; index < Number(count); index++) {
  const id = index % 2 === 0 ? `${name}-${index}` : `shared-${index}`;
  const text = `Memory ${index} by ${name}.`;
  const [answer] = await store.upsert([memory(id, text)]);
  if (answer?.entry.text !== text) throw new Error(`${id} was answered with something else`);
  process.stdout.write(`${id}\n`);
  if (index % 20 === 19) await store.search({ terms: ['memory', name], filter: {}, limit: 3 });
}
await store.close();
