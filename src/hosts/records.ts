import { join } from 'node:path';
import { readState, writeAtomic } from '../base/files/file-state.ts';
import { removeFile } from '../base/files/open-file.ts';
import { jsonObject } from '../base/parse/json.ts';
import { sha256 } from '../base/sha256.ts';
import type { Made } from './splice-parts.ts';

/** What was done to a file, so that it can be undone to the byte. */
export interface Connection {
  file: string;
  /** The hosts that read it and were asked for. */
  hosts: string[];
  scope: 'user' | 'project';
  /** Whether the file did not exist before. */
  created: boolean;
  /** The folders that were made for it, the outermost first. */
  folders: string[];
  made: Made;
  /** Digest of the file as it was written: only if it is still that, the copy of what was before can be put back. */
  after: string;
}

export type Connections = ReturnType<typeof connectionsIn>;

/** Notes and copies are in the user's own folder: configurations of hosts hold tokens. */
export function connectionsIn(state: string) {
  const folder = join(state, 'hosts');
  const note = (file: string): string => join(folder, `${sha256(file).slice(0, 24)}.json`);
  const copy = (file: string): string => join(folder, `${sha256(file).slice(0, 24)}.before`);
  return {
    copy,
    async of(file: string): Promise<Connection | undefined> {
      const found = jsonObject((await readState(note(file))) ?? '');
      return found?.['file'] === file ? (found as unknown as Connection) : undefined;
    },
    /** What the file was before, as it will be again. */
    async before(file: string): Promise<string | undefined> {
      return readState(copy(file));
    },
    async keep(connection: Connection, before: string | undefined): Promise<void> {
      if (before !== undefined) await writeAtomic(copy(connection.file), before, { mode: 0o600 });
      await writeAtomic(note(connection.file), `${JSON.stringify(connection, null, 2)}\n`, { mode: 0o600 });
    },
    async forget(file: string): Promise<void> {
      await removeFile(note(file));
      await removeFile(copy(file));
    },
  };
}
