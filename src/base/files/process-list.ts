import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type * as z from 'zod';
import { ours } from '../expected.ts';
import { jsonIn } from '../parse/json.ts';
import { readState, stateNames, writeAtomic } from './file-state.ts';
import { isRunning } from './is-running.ts';
import { removeFile } from './open-file.ts';

const ENDING = '.json';

/** A list of processes: a file for each in one folder, which the process removes when it ends. */
export function processList<Entry extends { pid: number; started: string }>(
  folder: string,
  schema: z.ZodType<Entry>,
) {
  return {
    /** Answers with how to take it off the list again. `id` tells it from a later process with the same number. */
    async add(entry: Entry, id = newId()): Promise<() => Promise<void>> {
      const file = join(folder, `${entry.pid}-${id}${ENDING}`);
      await writeAtomic(file, `${JSON.stringify(entry)}\n`, { mode: 0o600 });
      return () => removeFile(file).catch(() => undefined);
    },
    /** Those whose process is there, the oldest first; what is left of others is removed. */
    async running(): Promise<Entry[]> {
      const names = await stateNames(folder).catch(ours(() => [], 'not_found'));
      const found: Entry[] = [];
      for (const name of names.filter((each) => each.endsWith(ENDING))) {
        const text = await readState(join(folder, name)).catch(ours(() => undefined));
        // Gone, or not to be read at the moment: its process may be there.
        if (text === undefined) continue;
        const { data } = schema.safeParse(jsonIn(text));
        if (data !== undefined && isRunning(data.pid)) found.push(data);
        else await removeFile(join(folder, name)).catch(() => undefined);
      }
      return found.sort((a, b) => (a.started < b.started ? -1 : 1));
    },
  };
}

export const newId = (): string => randomBytes(4).toString('hex');
