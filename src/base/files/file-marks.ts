import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { jsonObject } from '../parse/json.ts';
import { ensureFolder } from './file-modes.ts';
import { modifiedAt, readState, stateNames, writeNew } from './file-state.ts';
import { hasEnded, processIn, processSpace, thisProcess } from './leftovers.ts';
import { removeFile } from './open-file.ts';

/**
 * Notes that a process leaves while it works in several steps, one small file each: if it dies in between, others find
 * the note and can complete the work.
 */

const NAME = /^(\d+)-[0-9a-f]{12}\.json$/;
/** After this, a process that still seems to run is assumed to be a different one with the same pid. */
const OLD_MS = 10 * 60_000;

/** Those that this process is still working on; a pid may be reused, in containers nearly always. */
const own = new Set<string>();

export interface Mark {
  path: string;
  /** The folder that nothing may lead out of: the notes lie in a project. */
  inside: string;
  /** Undefined if the process died while writing the note. */
  about: unknown;
}

export async function leaveMark(inside: string, name: string, about: unknown): Promise<Mark> {
  const folder = join(inside, name);
  await ensureFolder(folder, inside);
  const path = join(folder, `${process.pid}-${randomBytes(6).toString('hex')}.json`);
  own.add(path);
  await writeNew(path, Buffer.from(JSON.stringify({ ...thisProcess(), about })), inside);
  return { path, inside, about };
}

/** The work is done. A note that cannot be removed is left for the next reader, who finds nothing more to do. */
export async function removeMark({ path, inside }: Mark): Promise<void> {
  await removeFile(path, inside).catch(() => undefined);
  own.delete(path);
}

/** Leaves the note for the next reader, this process included. */
export function giveUpMark({ path }: Mark): void {
  own.delete(path);
}

/** The notes of processes that no longer run, in the order of their names. */
export async function deadMarks(inside: string, folderName: string): Promise<Mark[]> {
  const folder = join(inside, folderName);
  const found: Mark[] = [];
  for (const name of await stateNames(folder, inside)) {
    const pid = Number(NAME.exec(name)?.[1]);
    const path = join(folder, name);
    if (Number.isNaN(pid) || own.has(path)) continue;
    const note = jsonObject((await readState(path, { inside }).catch(() => undefined)) ?? '');
    const by = processIn(note);
    // This process knows its own.
    const ended = hasEnded(by) || (pid === process.pid && by.space === processSpace());
    if (!ended && Date.now() - ((await modifiedAt(path)) ?? Date.now()) < OLD_MS) continue;
    found.push({ path, inside, about: note?.['about'] });
  }
  return found;
}
