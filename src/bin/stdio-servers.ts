import { join } from 'node:path';
import * as z from 'zod';
import { processList } from '../base/files/file-state.ts';

/**
 * In the user's state folder, apart from servers over HTTP, which have an address and can be asked whether they are there:
 * the servers that hosts have started and used.
 */
const FOLDER = 'stdio-servers';
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
  const list = processList(join(state, FOLDER), recordSchema);
  return {
    ...list,
    add({ client, ...server }: StdioServer): Promise<() => Promise<void>> {
      const named = client === undefined ? {} : { client: client.slice(0, 2 * NAME_LENGTH) };
      return list.add({ ...server, ...named });
    },
  };
}
