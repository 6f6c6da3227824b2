import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type * as z from 'zod';
import { ours } from '../expected.ts';
import { jsonObject } from '../parse/json.ts';
import { readState, stateNames, writeAtomic } from './file-state.ts';
import { hasEnded, processSpace, startOf } from './is-running.ts';
import { removeFile } from './open-file.ts';

const ENDING = '.json';

/**
 * A list of processes: a file for each in one folder, which the process removes when it ends. Machines and containers may share
 * the folder: each knows of its own processes alone, and removes what is left of one only if that has ended for certain.
 */
export function processList<Entry extends { pid: number; started: string }>(
  folder: string,
  schema: z.ZodType<Entry>,
) {
  async function found(): Promise<{ entry: Entry; remove(): Promise<void> }[]> {
    const names = await stateNames(folder).catch(ours(() => [], 'not_found'));
    const all: { entry: Entry; remove(): Promise<void> }[] = [];
    for (const name of names.filter((each) => each.endsWith(ENDING))) {
      const file = join(folder, name);
      const text = await readState(file).catch(ours(() => undefined));
      // Gone, or not to be read at the moment: its process may be there.
      if (text === undefined) continue;
      const kept = jsonObject(text);
      const space = processSpace();
      if (kept?.['space'] !== space) continue;
      const remove = (): Promise<void> => removeFile(file).catch(() => undefined);
      const { data: entry } = schema.safeParse(kept);
      const start = typeof kept['mark'] === 'string' ? kept['mark'] : undefined;
      if (hasEnded({ pid: Number(kept['pid']), space, start })) await remove();
      // Another version of this program may list more, or less.
      else if (entry !== undefined) all.push({ entry, remove });
    }
    return all.sort((a, b) => (a.entry.started < b.entry.started ? -1 : 1));
  }

  return {
    /** Answers with how to take it off the list again. `id` tells it from a later process with the same number. */
    async add(entry: Entry, id = newId()): Promise<() => Promise<void>> {
      const file = join(folder, `${entry.pid}-${id}${ENDING}`);
      const kept = { ...entry, space: processSpace(), mark: startOf(entry.pid) };
      await writeAtomic(file, `${JSON.stringify(kept)}\n`, { mode: 0o600 });
      return () => removeFile(file).catch(() => undefined);
    },
    found,
    /** Those whose process is there, the oldest first; what is left of others is removed. */
    running: async (): Promise<Entry[]> => (await found()).map(({ entry }) => entry),
  };
}

export const newId = (): string => randomBytes(4).toString('hex');
