import { basename, dirname, join } from 'node:path';
import { withLock } from '../base/files/file-lock.ts';
import { replaceShared } from '../base/files/file-shared.ts';
import { ensureFolder, readState } from '../base/files/file-state.ts';
import { withList } from '../base/parse/toml-list.ts';
import { userConfigFile } from '../config/locations.ts';
import type { Settings } from './settings.ts';

const LOCK_WAIT_MS = 3_000;

/** Changes the preferred origins in the user's configuration file, which is made if it is not there. */
export async function changePreferred(
  { outside, state, load }: Pick<Settings, 'outside' | 'state' | 'load'>,
  change: (entries: readonly string[]) => readonly string[],
): Promise<{ file: string; entries: readonly string[] }> {
  const file = userConfigFile(outside);
  await ensureFolder(dirname(file));
  await ensureFolder(state);
  return withLock(join(state, 'config.lock'), { waitMs: LOCK_WAIT_MS }, async () => {
    const text = (await readState(file)) ?? '';
    // As they are now: somebody else may have chosen in the meantime.
    const entries = change((await load()).config.prefer);
    const next = withList(file, text, 'prefer', () => entries);
    if (next !== text) await replaceShared(dirname(file), basename(file), next);
    return { file, entries };
  });
}
