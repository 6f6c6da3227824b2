import { BmadError } from '../../base/errors.ts';
import type { Step } from '../../base/step.ts';
import { plural } from '../../base/text/text.ts';
import { isUsed } from './place.ts';
import type { MemoryParts } from './memory.ts';
import type { MemoryStats, StoreHealth } from './store.ts';

/** The true state of a project's memory, even if it does not work. */
export interface MemoryStatus {
  project: string;
  owner: 'project' | 'user';
  store: StoreHealth | undefined;
  embedder: { id: string; dim: number } | undefined;
  stats: MemoryStats | undefined;
  /** Memories with a vector of the embedder, of all that could have one. */
  embedding: { done: number; total: number; running: boolean };
  /** Entries of the project's own files that are searched too. */
  fileEntries: number;
  degraded: boolean;
  notes: string[];
  /** What to do about it. */
  steps: readonly Step[];
}

export async function statusOf({ opened, sessions, place, userFolder }: MemoryParts): Promise<MemoryStatus> {
  const { entries, problems } = await opened.files.read();
  const shared = {
    project: opened.files.kit.app,
    owner: place.owner,
    fileEntries: entries.length,
  };
  const notes = [...problems];
  const steps: Step[] = [];
  if (place.owner === 'project' && (await isUsed(userFolder))) {
    notes.push(`There are memories of this project in ${userFolder} too.`);
    steps.push({ operation: 'memory_move', why: 'Bring them into the project' });
  }
  try {
    const { store, embedder, troubles } = await opened.session();
    const [health, stats, { total, embedded }] = [
      await store.health(),
      await store.stats(),
      await store.embedding(),
    ];
    if (embedder !== undefined && embedded < total && !sessions.reembedding.running) {
      notes.push(`${plural(total - embedded, 'memory waits', 'memories wait')} for a vector.`);
      steps.push({ operation: 'memory_reindex', why: 'Make the missing vectors now' });
    }
    return {
      ...shared,
      store: health,
      embedder: embedder === undefined ? undefined : { id: embedder.id, dim: embedder.dim },
      stats,
      embedding: { done: embedded, total, running: sessions.reembedding.running },
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
