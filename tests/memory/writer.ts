import { memory } from './places.ts';
import { openLines, type IndexKind } from './processes.ts';

/**
 * A process that writes memories one by one and says on standard output which it has been told are stored:
 * `writer INDEX FOLDER NAME COUNT`. Every second one has an id that all writers share.
 */
const [kind, folder = '', name = '', count = '0'] = process.argv.slice(2);

const store = await openLines(kind as IndexKind, folder, { machine: name });

for (let index = 0; index < Number(count); index++) {
  const id = index % 2 === 0 ? `${name}-${index}` : `shared-${index}`;
  const text = `Memory ${index} by ${name}.`;
  const [answer] = await store.upsert([memory(id, text)]);
  if (answer?.entry.text !== text) throw new Error(`${id} was answered with something else`);
  process.stdout.write(`${id}\n`);
  if (index % 20 === 19) await store.search({ terms: ['memory', name], filter: {}, limit: 3 });
}
await store.close();
