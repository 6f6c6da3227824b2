import { register } from 'node:module';
import type { StorePlace } from '../../src/services/memory/open.ts';
import { BmadError } from '../../src/base/errors.ts';
import { memory, storeOptions } from './places.ts';

/**
 * A process on a machine without SQLite that opens the store of a folder, writes one memory and says on standard output
 * which engine it was, or what it was told: `opener FOLDER ENGINE`.
 */
const [folder = '', engine] = process.argv.slice(2);

/** Neither the optional package nor the module inside Node can be loaded from here on. */
const hook = `export async function resolve(name, context, next) {
  if (/\\bsqlite(?:$|\\/dist\\/)/.test(name)) throw new Error('There is no ' + name);
  return next(name, context);
}`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);

const { openStore } = await import('../../src/services/memory/open.ts');
try {
  const store = await openStore({ folder, engine: engine as StorePlace['engine'] }, storeOptions());
  await store.upsert([memory('a', `A memory of ${engine}.`)]);
  const { engine: used, notes } = await store.health();
  await store.close();
  process.stdout.write(JSON.stringify({ engine: used, notes: notes.join(' ') }));
} catch (error) {
  if (!(error instanceof BmadError)) throw error;
  process.stdout.write(JSON.stringify({ code: error.code, message: error.message, hint: error.hint }));
}
