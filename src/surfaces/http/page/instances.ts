import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import * as z from 'zod';
import { ours } from '../../../base/expected.ts';
import { readState, stateNames, writeAtomic } from '../../../base/files/file-state.ts';
import { isRunning } from '../../../base/files/is-running.ts';
import { removeFile } from '../../../base/files/open-file.ts';
import { jsonIn } from '../../../base/parse/json.ts';

/** In the user's state folder; a file for each server that is running, which its process removes when it ends. */
const FOLDER = 'instances';
const ENDING = '.json';
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
  const folder = join(state, FOLDER);
  const fileOf = ({ pid, id }: Pick<Instance, 'pid' | 'id'>): string => join(folder, `${pid}-${id}${ENDING}`);

  /** Those whose process is there, the oldest first; what is left of others is removed. */
  async function running(): Promise<Instance[]> {
    const names = await stateNames(folder).catch(ours(() => [], 'not_found'));
    const found: Instance[] = [];
    for (const name of names.filter((each) => each.endsWith(ENDING))) {
      const text = await readState(join(folder, name)).catch(ours(() => undefined));
      const { data } = instanceSchema.safeParse(text === undefined ? undefined : jsonIn(text));
      if (data !== undefined && isRunning(data.pid)) found.push(data);
      else await removeFile(join(folder, name)).catch(() => undefined);
    }
    return found.sort((a, b) => (a.started < b.started ? -1 : 1));
  }

  return {
    running,
    /** Answers with how to take it off the list again. */
    async add(instance: Omit<Instance, 'id'>): Promise<{ instance: Instance; remove(): Promise<void> }> {
      const whole = { ...instance, id: randomBytes(4).toString('hex') };
      await writeAtomic(fileOf(whole), `${JSON.stringify(whole)}\n`, { mode: 0o600 });
      return { instance: whole, remove: () => removeFile(fileOf(whole)).catch(() => undefined) };
    },
    /** Those that answer as well: the number of a process that was killed may be that of another by now. */
    async answering(): Promise<Instance[]> {
      const all = await running();
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
