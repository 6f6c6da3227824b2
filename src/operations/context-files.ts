import { isAbsolute, posix, relative, sep } from 'node:path';
import { BmadError, quoted } from '../base/errors.ts';
import { readInside } from '../base/files.ts';
import { isMemoryState } from '../base/own-state.ts';

const FILE_BYTES = 2_000_000;

/**
 * Files of the project that a caller named, as text. Each is read through the jail of the project; one that is missing,
 * leads outside or is no text stops the call, because the work would start without it.
 */
export async function contextFiles(
  root: string,
  names: readonly string[],
): Promise<{ path: string; text: string }[]> {
  const files: { path: string; text: string }[] = [];
  for (const name of names) {
    const path = posix.normalize((isAbsolute(name) ? relative(root, name) : name).split(sep).join('/'));
    if (files.some((file) => file.path === path)) continue;
    if (path.startsWith('..') || posix.isAbsolute(path))
      throw new BmadError('forbidden', `context_files: ${quoted(name)} is outside the project.`, {
        subject: name.slice(0, 200),
        hint: 'Copy the file into the project, or put what matters of it into the task.',
      });
    const bytes = await readInside(root, path, FILE_BYTES, (real) => !isMemoryState(real)).catch(
      (error: unknown) => {
        if (!(error instanceof BmadError)) throw error;
        throw new BmadError(error.code, `context_files: ${error.message}`, {
          subject: name.slice(0, 200),
          hint: 'Paths are relative to the project, and stay inside it.',
          cause: error,
        });
      },
    );
    if (bytes.includes(0))
      throw new BmadError('invalid_input', `context_files: ${quoted(name)} is not a text file.`, {
        subject: name.slice(0, 200),
        hint: 'Name files that a model can read.',
      });
    files.push({ path, text: bytes.toString('utf8') });
  }
  return files;
}
