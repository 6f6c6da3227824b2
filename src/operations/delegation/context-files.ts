import { isAbsolute, posix, relative, sep } from 'node:path';
import { BmadError, quoted } from '../../base/errors.ts';
import { unlessShort } from '../../base/expected.ts';
import { listInside, readInside } from '../../base/files/files.ts';
import { isMemoryState } from '../../base/files/own-state.ts';
import { maskCodeSecrets, shownText } from '../../base/secrets/masking.ts';
import { isSecretFile } from '../../base/secrets/secret-files.ts';
import { nearest } from '../../base/text/suggest.ts';

const FILE_BYTES = 2_000_000;
const MOST_FILES = 50;
const MOST_BYTES = 20_000_000;
/** Read beyond the cut, so that a secret that lies across it is recognised. */
const BEYOND = 8_000;

export interface ContextFile {
  path: string;
  text: string;
  /** How many times longer the whole file is, where only its beginning was taken. */
  times?: number;
}

/**
 * Files of the project that a caller named, as text. Each is read through the jail of the project; one that is missing,
 * leads outside or is no text stops the call, because the work would start without it. What is passed on is kept in
 * files and read by others, so secrets in it are masked; of a longer file than `most` characters its beginning is taken.
 */
export async function contextFiles(
  root: string,
  names: readonly string[],
  hide: (text: string) => string,
  field = 'context_files',
  most = FILE_BYTES,
): Promise<ContextFile[]> {
  const paths = new Map<string, string>();
  for (const name of names) {
    const path = posix.normalize((isAbsolute(name) ? relative(root, name) : name).split(sep).join('/'));
    if (!paths.has(path)) paths.set(path, name);
  }
  if (paths.size > MOST_FILES)
    throw new BmadError(
      'invalid_input',
      `${field}: ${paths.size} files are named; the limit is ${MOST_FILES}.`,
      {
        subject: field,
        hint: 'Name those that matter most for the task.',
      },
    );
  const files: ContextFile[] = [];
  let total = 0;
  for (const [path, name] of paths) {
    const bytes = await bytesOf(root, path, name, field);
    total += bytes.length;
    if (total > MOST_BYTES)
      throw new BmadError('too_large', `${field}: together the files exceed ${MOST_BYTES} bytes.`, {
        subject: name.slice(0, 200),
        hint: 'Name fewer files, or those that matter most for the task.',
      });
    // What a name says about a file says more about its words than the words alone.
    const shown = (text: string): string => shownText(maskCodeSecrets(text, path), hide);
    files.push({ path, ...beginningOf(bytes.toString('utf8'), most, shown) });
  }
  return files;
}

function beginningOf(
  whole: string,
  most: number,
  shown: (text: string) => string,
): Omit<ContextFile, 'path'> {
  if (whole.length <= most) return { text: shown(whole) };
  const text = shown(whole.slice(0, most + BEYOND)).slice(0, most);
  return { text: text.replace(/[\uD800-\uDBFF]$/, ''), times: whole.length / most };
}

const MOST_NEAR = 5;

/** Files beside one that is not there, those of a similar name first: a caller may have guessed the name. */
async function besides(root: string, path: string): Promise<string[]> {
  const folder = posix.dirname(path);
  const entries = await listInside(root, folder === '.' ? '' : folder).catch(unlessShort([]));
  const names = entries.flatMap(({ name, kind }) => (kind === 'file' ? [posix.join(folder, name)] : []));
  const others = names.filter((name) => !isSecretFile(name) && !isMemoryState(name));
  return [...new Set([...nearest(path, others), ...others])].slice(0, MOST_NEAR);
}

async function bytesOf(root: string, path: string, name: string, field: string): Promise<Buffer> {
  const subject = name.slice(0, 200);
  if (path.startsWith('..') || posix.isAbsolute(path))
    throw new BmadError('forbidden', `${field}: ${quoted(name)} is outside the project.`, {
      subject,
      hint: 'Copy the file into the project, or put the relevant parts into the task.',
    });
  let isSecret = isSecretFile(path);
  const secret = (): BmadError =>
    new BmadError('forbidden', `${field}: ${quoted(name)} contains secrets and is not passed on.`, {
      subject,
      hint: 'Say in the task which settings matter, without their values.',
    });
  if (isSecret) throw secret();
  // A link with a harmless name may lead to a file of secrets.
  const serves = (real: string): boolean => {
    isSecret = isSecretFile(real);
    return !isSecret && !isMemoryState(real);
  };
  const bytes = await readInside(root, path, FILE_BYTES, { serves }).catch(async (error: unknown) => {
    if (!(error instanceof BmadError)) throw error;
    if (isSecret) throw secret();
    throw new BmadError(error.code, `${field}: ${error.message}`, {
      subject,
      suggestions: error.code === 'not_found' ? await besides(root, path) : [],
      hint: 'Use paths inside the project, relative to its root.',
      cause: error,
    });
  });
  if (bytes.includes(0))
    throw new BmadError('invalid_input', `${field}: ${quoted(name)} is not a text file.`, {
      subject,
      hint: 'Name files that a model can read.',
    });
  return bytes;
}
