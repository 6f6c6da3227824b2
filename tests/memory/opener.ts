import { register } from 'node:module';
import { BmadError } from '../../src/base/errors.ts';
import type { EngineSettings } from '../../src/services/memory/open.ts';
import { memory } from './places.ts';

/**
 * A process on a machine without SQLite that opens the store of a project, writes one memory and says on standard output
 * which index it was, or what it was told: `opener ROOT ENGINE`.
 */
const [root = '', engine] = process.argv.slice(2);

/** Neither the optional package nor the module inside Node can be loaded from here on. */
const hook = `export async function resolve(name, context, next) {
  if (/\\bsqlite(?:$|\\/dist\\/)/.test(name)) throw new Error('There is no ' + name);
  return next(name, context);
}`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);

const { storeIn } = await import('./open-project.ts');
try {
  const notes: string[] = [];
  const store = await storeIn(root, { engine: engine as EngineSettings['engine'], notes });
  await store.upsert([memory('a', `A memory of ${engine}.`, { vector: undefined })]);
  const { engine: used } = await store.health();
  const count = await store.count({});
  await store.close();
  process.stdout.write(JSON.stringify({ engine: used, count, notes: notes.join(' ') }));
} catch (error) {
  if (!(error instanceof BmadError)) throw error;
  process.stdout.write(JSON.stringify({ code: error.code, message: error.message, hint: error.hint }));
}
