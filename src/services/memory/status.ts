import { BmadError } from '../../base/errors.ts';
import type { Step } from '../../base/step.ts';
import { plural } from '../../base/text/text.ts';
import { isOnQdrant, openConfigured, type EngineSettings } from './open.ts';
import type { OpenMemory } from './opened.ts';
import { isUsed, type MemoryPlace } from './place.ts';
import type { Sessions } from './sessions.ts';
import type { StoreOptions } from './store.ts';

/** The true state of a project's memory, even if it does not work. */
export async function statusOf(
  { files, session }: OpenMemory,
  { reembedding }: Sessions,
  { owner }: MemoryPlace,
  isQdrant: boolean,
) {
  const { entries, problems } = await files.read();
  // Entries of the project's own files are searched too.
  const shared = { project: files.kit.app, owner, fileEntries: entries.length };
  const notes = [...problems];
  const { app, isNamed } = files.kit;
  if (isQdrant && !isNamed)
    notes.push(
      `Earlier versions kept its memories on the server as ${app.replace(/-[^-]*$/, '')}, together with those of every project of that name. To use these again, give the project that name in project-context.yaml.`,
    );
  const steps: Step[] = [];
  try {
    const { store, embedder, troubles } = await session();
    const health = await store.health();
    const stats = await store.stats();
    const { total, embedded } = await store.embedding();
    if (embedder !== undefined && embedded < total && !reembedding.running) {
      notes.push(`${plural(total - embedded, 'memory waits', 'memories wait')} for a vector.`);
      steps.push({ operation: 'memory_reindex', why: 'Make the missing vectors now' });
    }
    return {
      ...shared,
      store: health,
      embedder: embedder === undefined ? undefined : { id: embedder.id, dim: embedder.dim },
      stats,
      // Memories with a vector of the embedder, of all that could have one.
      embedding: { done: embedded, total, running: reembedding.running },
      degraded: health.degraded || troubles.length > 0,
      notes: [...notes, ...troubles, ...health.notes],
      steps,
    };
  } catch (error) {
    if (!(error instanceof BmadError)) throw error;
    return {
      ...shared,
      store: undefined,
      embedder: undefined,
      stats: undefined,
      embedding: { done: 0, total: 0, running: false },
      degraded: true,
      notes: [error.line, ...notes],
      steps: [...error.steps, ...steps],
    };
  }
}

/** Stores that cannot be used, in words; one that is fine, or not there yet, says nothing. Nothing is made for it. */
export async function faultsIn(
  folders: readonly string[],
  engine: EngineSettings,
  options: StoreOptions,
): Promise<string[]> {
  const faults: string[] = [];
  for (const folder of folders) {
    try {
      if (!isOnQdrant(engine) && !(await isUsed(folder))) continue;
      const store = await openConfigured(engine, folder, options, false, { writes: false });
      try {
        const { damaged, notes } = await store.health();
        if (damaged === true) faults.push(notes.join(' '));
      } finally {
        await store.close();
      }
    } catch (error) {
      if (!(error instanceof BmadError)) throw error;
      faults.push(error.line);
    }
  }
  return faults;
}
