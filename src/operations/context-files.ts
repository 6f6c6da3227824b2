import { isAbsolute, posix, relative, sep } from 'node:path';
import { BmadError, quoted } from '../base/errors.ts';
import { readInside } from '../base/files.ts';
import { isMemoryState } from '../base/own-state.ts';
import { isSecretFile } from '../base/secret-files.ts';
import { shownText } from '../base/secret-text.ts';

const FILE_BYTES = 2_000_000;

/**
 * Files of the project that a caller named, as text. Each is read through the jail of the project; one that is missing,
 * leads outside or is no text stops the call, because the work would start without it. What is passed on is kept in
 * files and read by others, so secrets in it are masked.
 */
export async function contextFiles(
  root: string,
  names: readonly string[],
  hide: (text: string) => string,
  field = 'context_files',
): Promise<{ path: string; text: string }[]> {
  const files: { path: string; text: string }[] = [];
  for (const name of names) {
    const path = posix.normalize((isAbsolute(name) ? relative(root, name) : name).split(sep).join('/'));
    if (files.some((file) => file.path === path)) continue;
    if (path.startsWith('..') || posix.isAbsolute(path))
      throw new BmadError('forbidden', `${field}: ${quoted(name)} is outside the project.`, {
        subject: name.slice(0, 200),
        hint: 'Copy the file into the project, or put what matters of it into the task.',
      });
    if (isSecretFile(path))
      throw new BmadError('forbidden', `${field}: ${quoted(name)} holds secrets and is not passed on.`, {
        subject: name.slice(0, 200),
        hint: 'Say in the task which settings matter, without their values.',
      });
    const bytes = await readInside(root, path, FILE_BYTES, (real) => !isMemoryState(real)).catch(
      (error: unknown) => {
        if (!(error instanceof BmadError)) throw error;
        throw new BmadError(error.code, `${field}: ${error.message}`, {
          subject: name.slice(0, 200),
          hint: 'Paths are relative to the project, and stay inside it.',
          cause: error,
        });
      },
    );
    if (bytes.includes(0))
      throw new BmadError('invalid_input', `${field}: ${quoted(name)} is not a text file.`, {
        subject: name.slice(0, 200),
        hint: 'Name files that a model can read.',
      });
    files.push({ path, text: shownText(bytes.toString('utf8'), hide) });
  }
  return files;
}
