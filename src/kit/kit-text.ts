import { join } from 'node:path';
import { mayBeThere } from '../base/files/file-stamps.ts';
import { writeOnce } from '../base/files/file-state.ts';
import { t } from '../base/text/message.ts';
import { BmadError, expected, unlessMissing } from '../base/errors.ts';
import { readInside } from '../base/files/files.ts';
import { conflictsIn, conflictText } from '../base/text/diff.ts';
import { inProject, jailOf, type Kit, type KitWithMemory, OWN_FOLDER, strayRefusal } from './kit.ts';
import { utf8Text } from '../base/text/text.ts';

export const MAX_BYTES = 20_000_000;

/** The text of a file that is going to be rewritten; nothing when there is none. In another encoding it is left alone. */
export async function textToChange(kit: KitWithMemory, path: string): Promise<string | undefined> {
  const bytes = await readInside(kit.memory, path, MAX_BYTES).catch(unlessMissing);
  const text = bytes === undefined ? undefined : utf8Text(bytes);
  if (bytes === undefined || text !== undefined) return text;
  throw new BmadError('unavailable', t`${inProject(kit, path)} was left unchanged: it is not UTF-8.`, {
    subject: path,
    hint: t`Save the file as UTF-8, then try again.`,
  });
}

/**
 * The text of a file that is only read; problems are reported, and what can be read is returned. Of a conflict both sides are
 * read; in a list of JSON its reader does that, since the two together are no list.
 */
export async function textToRead(
  kit: Kit,
  path: string,
  problems: string[],
  root = kit.memory,
): Promise<string | undefined> {
  // Most are not there, and some are asked for with every call.
  if (root === undefined || !mayBeThere(join(root, path))) return undefined;
  const shown = root === kit.memory ? inProject(kit, path) : path;
  const bytes = await readInside(root, path, MAX_BYTES)
    .catch(unlessMissing)
    .catch(expected(({ message }) => void problems.push(`${shown}: ${message}`)));
  if (bytes === undefined) return undefined;
  const text = utf8Text(bytes);
  if (text === undefined) problems.push(t`${shown} is not UTF-8: some characters cannot be read.`);
  const all = (text ?? bytes.toString('utf8')).replace(/^\uFEFF/, '');
  const conflicts = conflictsIn(all);
  if (conflicts === undefined) return all;
  problems.push(`${conflictText(shown, conflicts)}.`);
  return path.endsWith('.json') ? all : conflicts.both;
}

/** What a person or a model wrote as one line of a file: it cannot begin a comment, a heading or another row there. */
export function asLine(text: string): string {
  return text.replace(/\s+/g, ' ').replaceAll('<!--', '&lt;!--').replaceAll('-->', '--&gt;').trim();
}

/** Who has it, is the only one to write the kit's files. */
export const kitLock = (folder: string): string => join(folder, 'kit-files.lock');

/** Runs `work` while no other code of ours, in this process or another, changes the files in the memory folder. */
export async function inTurn<T>(locks: string, work: () => Promise<T>): Promise<T> {
  const { takeTurn } = await import('./kit-turns.ts');
  return takeTurn(kitLock(locks), work, jailOf(locks));
}

/** The same lock as the memory's own, for writers that know the project only. */
export async function whileLocked<T>(kit: KitWithMemory, work: () => Promise<T>): Promise<T> {
  const folder = join(kit.memory, OWN_FOLDER);
  const stray = await strayRefusal(kit.memory, OWN_FOLDER, t`nothing was written`);
  if (stray !== undefined) throw stray;
  await writeOnce(join(folder, '.gitignore'), '*\n', kit.memory);
  return inTurn(folder, work);
}
