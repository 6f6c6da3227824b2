import { join } from 'node:path';
import * as z from 'zod';
import { readState, writeAtomic } from '../base/files/file-state.ts';
import { realFolder } from '../base/files/files.ts';
import { jsonIn } from '../base/parse/json.ts';

/** In the user's state folder: the projects for which the page was opened, the latest first. */
const FILE = 'page-projects.json';
const MOST = 50;
const listSchema = z.array(z.string().max(4_000));

/** The projects of a user that the page has been opened for; those whose folder is gone are not told. */
export function pageProjects(state: string) {
  const file = join(state, FILE);
  async function read(): Promise<string[]> {
    const text = await readState(file);
    return listSchema.safeParse(text === undefined ? undefined : jsonIn(text)).data ?? [];
  }
  return {
    async all(): Promise<string[]> {
      const found = await Promise.all((await read()).map((root) => realFolder(root)));
      return found.filter((root) => root !== undefined);
    },
    async note(root: string): Promise<void> {
      // Of two at the same moment the last one holds: the other project is noted when its page is opened again.
      const roots = [root, ...(await read()).filter((each) => each !== root)].slice(0, MOST);
      await writeAtomic(file, `${JSON.stringify(roots)}\n`, { mode: 0o600 });
    },
  };
}
