import { isAbsolute, posix, relative, sep } from 'node:path';
import { BmadError, quoted, unlessShort } from '../../base/errors.ts';
import { listInside, readInside, realPathInside } from '../../base/files/files.ts';
import { isMemoryState } from '../../base/files/paths.ts';
import { isSecretFile } from '../../base/secrets/names.ts';
import { maskCodeSecrets, shownText } from '../../base/secrets/scanner.ts';
import { t } from '../../base/text/message.ts';
import { nearest } from '../../base/text/suggest.ts';
import type { ProjectState } from '../context.ts';

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

/** The project that files are taken from. */
export type Shown = Pick<ProjectState, 'root' | 'filesToShow'>;

/**
 * Files of the project that a caller named, as text. Each is read through the jail of the project; one that is missing,
 * leads outside, is not for others to see or is no text stops the call, because the work would start without it. What is
 * passed on is kept in files and read by others, so secrets in it are masked; of a longer file than `most` characters its
 * beginning is taken.
 */
export async function contextFiles(
  project: Shown,
  names: readonly string[],
  { hide, signal, field = 'context_files', most = FILE_BYTES }: ContextRules,
): Promise<ContextFile[]> {
  const { root } = project;
  const paths = new Map<string, string>();
  for (const name of names) {
    const path = posix.normalize((isAbsolute(name) ? relative(root, name) : name).split(sep).join('/'));
    if (!paths.has(path)) paths.set(path, name);
  }
  if (paths.size > MOST_FILES)
    throw new BmadError(
      'invalid_input',
      t`${field}: ${paths.size} files are named; the limit is ${MOST_FILES}.`,
      {
        subject: field,
        hint: t`Name those that matter most for the task.`,
      },
    );
  const shows = (real: readonly string[]) => project.filesToShow(real, signal);
  const places: { path: string; name: string; real: string }[] = [];
  for (const [path, name] of paths)
    places.push({ path, name, real: await placeOf(root, path, name, field, shows) });
  const shown = places.length === 0 ? new Set() : await shows(places.map(({ real }) => real));
  const files: ContextFile[] = [];
  let total = 0;
  for (const { path, name, real } of places) {
    if (!shown.has(real))
      throw new BmadError(
        'forbidden',
        t`${field}: ${quoted(name)} is not passed on: git ignores it, or it is hidden.`,
        {
          subject: name.slice(0, 200),
          hint: t`Put the relevant parts into the task, or have git track the file.`,
        },
      );
    const bytes = await bytesOf(root, real, name, field);
    total += bytes.length;
    if (total > MOST_BYTES)
      throw new BmadError('too_large', t`${field}: together the files exceed ${MOST_BYTES} bytes.`, {
        subject: name.slice(0, 200),
        hint: t`Name fewer files, or those that matter most for the task.`,
      });
    // What a name says about a file says more about its words than the words alone.
    const safe = (text: string): string => shownText(maskCodeSecrets(text, path), hide);
    files.push({ path, ...beginningOf(bytes.toString('utf8'), most, safe) });
  }
  return files;
}

export interface ContextRules {
  hide(this: void, text: string): string;
  signal: AbortSignal;
  field?: string;
  most?: number;
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
const MOST_LOOKED_AT = 50;

type Shows = (real: readonly string[]) => Promise<ReadonlySet<string>>;

/** Files beside one that is not there, those of a similar name first: a caller may have guessed the name. */
async function besides(root: string, path: string, shows: Shows): Promise<string[]> {
  const folder = posix.dirname(path);
  const entries = await listInside(root, folder === '.' ? '' : folder).catch(unlessShort([]));
  const names = entries.flatMap(({ name, kind, link }) =>
    kind === 'file' && link !== true ? [posix.join(folder, name)] : [],
  );
  const near = [...new Set([...nearest(path, names), ...names])].slice(0, MOST_LOOKED_AT);
  const shown = await shows(near);
  return near.filter((name) => shown.has(name) && !isUnseen(name)).slice(0, MOST_NEAR);
}

const isUnseen = (path: string): boolean => isSecretFile(path) || isMemoryState(path);

/** Where a file that was named really is: a link with a harmless name may lead to one that nobody is shown. */
async function placeOf(
  root: string,
  path: string,
  name: string,
  field: string,
  shows: Shows,
): Promise<string> {
  const subject = name.slice(0, 200);
  if (path.startsWith('..') || posix.isAbsolute(path))
    throw new BmadError('forbidden', t`${field}: ${quoted(name)} is outside the project.`, {
      subject,
      hint: t`Copy the file into the project, or put the relevant parts into the task.`,
    });
  let isSecret = isSecretFile(path);
  const serves = (real: string): boolean => {
    isSecret ||= isSecretFile(real);
    return !isSecret && !isMemoryState(real);
  };
  try {
    // It is not read here: what is secret is refused in other words than what is not there.
    if (!isSecret) return realPathInside(root, path, { serves, secrets: 'mine' });
  } catch (error) {
    if (!(error instanceof BmadError)) throw error;
    if (!isSecret)
      throw new BmadError(error.code, `${field}: ${error.message}`, {
        subject,
        suggestions: error.code === 'not_found' ? await besides(root, path, shows) : [],
        hint: t`Use paths inside the project, relative to its root.`,
        cause: error,
      });
  }
  throw new BmadError('forbidden', t`${field}: ${quoted(name)} contains secrets and is not passed on.`, {
    subject,
    hint: t`Say in the task which settings matter, without their values.`,
  });
}

/** What was allowed is read, not what a link has made of it since. */
async function bytesOf(root: string, real: string, name: string, field: string): Promise<Buffer> {
  const subject = name.slice(0, 200);
  const serves = (path: string): boolean => path.split(sep).join('/') === `/${real}`;
  const bytes = await readInside(root, real, FILE_BYTES, { serves }).catch((error: unknown) => {
    if (!(error instanceof BmadError)) throw error;
    throw new BmadError(error.code, `${field}: ${error.message}`, { subject, cause: error });
  });
  if (bytes.includes(0))
    throw new BmadError('invalid_input', t`${field}: ${quoted(name)} is not a text file.`, {
      subject,
      hint: t`Name files that a model can read.`,
    });
  return bytes;
}

/** A path of a context as it is named there. */
export interface Mention {
  path: string;
  /** In quotes it can be nothing but a path. */
  isQuoted: boolean;
}

export interface NamedLine {
  mentions: Mention[];
  /** The line says nothing else. */
  isOnlyNames: boolean;
}

/** `@docs/prd.md` or `@"docs/my file.md"`. Each part is flat, so that no line takes longer than its length. */
const MENTION = /(?<![\w@])@(?:"([^"\n]{1,1000})"|([^\s,;:"'`]+))/g;
const MARKER = /^[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+/;
const BETWEEN = /^[\s,;.]*$/;
const CLOSING = new Map([
  [')', '('],
  [']', '['],
  ['>', '<'],
]);

/** What a line of a context names, and whether it does nothing else; it may be an item of a list. */
export function namedIn(line: string): NamedLine {
  const mentions: Mention[] = [];
  const between: string[] = [];
  let from = MARKER.exec(line)?.[0].length ?? 0;
  for (const { index, 0: whole, 1: inQuotes, 2: word } of line.matchAll(MENTION)) {
    if (index < from) continue;
    const path = inQuotes ?? withoutPunctuation(word ?? '');
    if (path === '') continue;
    mentions.push({ path, isQuoted: inQuotes !== undefined });
    between.push(line.slice(from, index));
    from = index + (inQuotes === undefined ? 1 + path.length : whole.length);
  }
  between.push(line.slice(from));
  return { mentions, isOnlyNames: mentions.length > 0 && between.every((text) => BETWEEN.test(text)) };
}

/** A path without the end of the sentence it stands in. A bracket belongs to it if it was opened in it. */
function withoutPunctuation(word: string): string {
  const open = new Map<string, number>();
  for (const char of word) open.set(char, (open.get(char) ?? 0) + 1);
  let end = word.length;
  for (; end > 0; end -= 1) {
    const last = word.charAt(end - 1);
    const opening = CLOSING.get(last);
    if (opening !== undefined) {
      if ((open.get(last) ?? 0) <= (open.get(opening) ?? 0)) break;
      open.set(last, (open.get(last) ?? 0) - 1);
    } else if (!'.!?'.includes(last)) break;
  }
  return word.slice(0, end);
}
