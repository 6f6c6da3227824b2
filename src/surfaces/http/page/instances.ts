import { join } from 'node:path';
import * as z from 'zod';
import { newId, processList } from '../../../base/files/process-list.ts';

/** In the user's state folder. */
const FOLDER = 'instances';
const ASK_MS = 5_000;

const instanceSchema = z.object({
  /** Tells it from a later process with the same number. */
  id: z.string(),
  pid: z.int(),
  origin: z.url(),
  /** `page` is a server that was started for the page alone: it is for people, and for all projects of the user. */
  kind: z.enum(['serve', 'page']),
  /** Whether it has the page. */
  page: z.boolean(),
  roots: z.array(z.string()),
  started: z.string(),
  version: z.string(),
});
export type Instance = z.output<typeof instanceSchema>;

/** The servers over HTTP that a user runs on this machine. */
export function openInstances(state: string) {
  const list = processList(join(state, FOLDER), instanceSchema);
  return {
    running: list.running,
    /** Answers with how to take it off the list again. */
    async add(instance: Omit<Instance, 'id'>): Promise<{ instance: Instance; remove(): Promise<void> }> {
      const whole = { ...instance, id: newId() };
      return { instance: whole, remove: await list.add(whole, whole.id) };
    },
    /** Those that answer as well: the number of a process that was killed may be that of another by now. */
    async answering(): Promise<Instance[]> {
      const all = await list.running();
      const answers = await Promise.all(all.map(({ origin }) => isAlive(origin)));
      return all.filter((_, at) => answers[at]);
    },
  };
}

async function isAlive(origin: string): Promise<boolean> {
  try {
    const response = await fetch(`${origin}/healthz`, { signal: AbortSignal.timeout(ASK_MS) });
    return ((await response.json()) as { status?: unknown }).status === 'ok';
  } catch {
    return false;
  }
}
