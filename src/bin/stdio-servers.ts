import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import * as z from 'zod';
import { ours } from '../base/expected.ts';
import { readState, stateNames, writeAtomic } from '../base/files/file-state.ts';
import { isRunning } from '../base/files/is-running.ts';
import { removeFile } from '../base/files/open-file.ts';
import { jsonIn } from '../base/parse/json.ts';

/**
 * In the user's state folder, apart from servers over HTTP, which have an address and can be asked whether they are there:
 * a file for each server that a host has started and used. Its process removes it when it ends.
 */
const FOLDER = 'stdio-servers';
const ENDING = '.json';
const NAME_LENGTH = 100;

const recordSchema = z.object({
  pid: z.int(),
  /** What the host calls itself. */
  client: z
    .string()
    .max(2 * NAME_LENGTH)
    .optional(),
  roots: z.array(z.string()),
  started: z.string(),
  version: z.string(),
});
export type StdioServer = z.output<typeof recordSchema>;

/** The servers over stdin and stdout that hosts of a user have started on this machine. */
export function stdioServers(state: string) {
  const folder = join(state, FOLDER);
  return {
    /** Answers with how to take it off the list again. */
    async add({ client, ...server }: StdioServer): Promise<() => Promise<void>> {
      const file = join(folder, `${server.pid}-${randomBytes(4).toString('hex')}${ENDING}`);
      const named = client === undefined ? {} : { client: client.slice(0, 2 * NAME_LENGTH) };
      await writeAtomic(file, `${JSON.stringify({ ...server, ...named })}\n`, { mode: 0o600 });
      return () => removeFile(file).catch(() => undefined);
    },
    /** Those whose process is there, the oldest first; what is left of others is removed. */
    async running(): Promise<StdioServer[]> {
      const names = await stateNames(folder).catch(ours(() => [], 'not_found'));
      const found: StdioServer[] = [];
      for (const name of names.filter((each) => each.endsWith(ENDING))) {
        const text = await readState(join(folder, name)).catch(ours(() => undefined));
        const { data } = recordSchema.safeParse(text === undefined ? undefined : jsonIn(text));
        if (data !== undefined && isRunning(data.pid)) found.push(data);
        else await removeFile(join(folder, name)).catch(() => undefined);
      }
      return found.sort((a, b) => (a.started < b.started ? -1 : 1));
    },
  };
}
