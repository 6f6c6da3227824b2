import { join } from 'node:path';
import * as z from 'zod';
import { processList } from '../base/files/file-state.ts';
import { VERSION } from '../base/product.ts';
import type { Context } from '../operations/context.ts';

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

/** Puts this server on the list; answers with what takes it off again. */
export async function enlist(
  context: Pick<Context, 'describeProject'>,
  state: string,
  client: string | undefined,
): Promise<() => Promise<void>> {
  const { root } = await context.describeProject();
  return stdioServers(state).add({
    pid: process.pid,
    ...(client === undefined ? {} : { client }),
    roots: root === undefined ? [] : [root],
    started: new Date(performance.timeOrigin).toISOString(),
    version: VERSION,
  });
}
