import { basename, dirname, join } from 'node:path';
import { withLock } from '../base/files/file-lock.ts';
import { replaceShared } from '../base/files/file-shared.ts';
import { ensureFolder, readState } from '../base/files/file-state.ts';
import { withList } from '../config/list-in-file.ts';
import { userConfigFile } from '../config/locations.ts';
import type { Settings } from './settings.ts';

const LOCK_WAIT_MS = 3_000;

/** Sets a list in the user's configuration file, which is made if it is not there; answers with the file. */
export async function writeUserList(
  { outside, state }: Pick<Settings, 'outside' | 'state'>,
  key: string,
  values: readonly string[],
): Promise<string> {
  const file = userConfigFile(outside);
  await ensureFolder(dirname(file));
  await ensureFolder(state);
  await withLock(join(state, 'config.lock'), { waitMs: LOCK_WAIT_MS }, async () => {
    const text = (await readState(file)) ?? '';
    const next = withList(file, text, key, values);
    if (next !== text) await replaceShared(dirname(file), basename(file), next);
  });
  return file;
}
