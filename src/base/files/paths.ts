import { basename, isAbsolute, posix, relative, sep } from 'node:path';
import { attempt, BmadError, quoted } from '../errors.ts';
import { ROOT_FOLDERS } from '../product.ts';
import { t } from '../text/message.ts';
import { cut } from '../text/text.ts';
import { sha256 } from '../values.ts';

const PATH_LIMIT = 1_024;
const SEGMENT_LIMIT = 256;
const SCHEME = 'bmad://';

/** The longest URI of a path of that length: each UTF-16 unit takes three bytes at most, each byte is written %XX. */
const URI_LIMIT = SCHEME.length + PATH_LIMIT * 9;

/**
 * Characters that look like a dot or a slash in other encodings, those Windows treats as special, control characters but
 * for tabs and line breaks, and halves of characters, which no file name on disk and no URI can hold.
 */
const DISGUISED =
  /[\u2024\u2025\uFF0E\uFE52\u2044\u2215\u29F8\uFF0F\uFF3C\uFE68\\:\0-\x08\x0B-\x1F\x7F-\x9F\u2028\u2029\p{Surrogate}]/u;

/**
 * Turns a `bmad://` URI or a content path into a clean relative path. Percent-encoding is decoded exactly once and the
 * result is checked afterwards, so nothing that leads out of the content passes in any spelling.
 */
export function contentPath(input: string): string {
  if (input.length > URI_LIMIT) throw refused(input, t`The path is ${input.length} characters long.`);
  const path = decodeOnce(input, withoutScheme(input));
  const segments = path.split('/');
  if (path === '') throw refused(input, t`The path is empty.`);
  if (path.length > PATH_LIMIT || segments.length > SEGMENT_LIMIT)
    throw refused(input, t`The path is too long.`);
  if (DISGUISED.test(path))
    throw refused(input, t`The path ${quoted(input)} contains a character that is not allowed.`);
  if (/%(?:2e|2f|5c|00|25|c0|e0)/i.test(path))
    throw refused(input, t`The path ${quoted(input)} is encoded twice.`);
  for (const segment of segments) {
    if (segment === '' || segment === '.' || segment === '..' || /[. ]$/.test(segment)) {
      throw refused(input, t`The path ${quoted(input)} is not a plain path inside the BMAD content.`);
    }
  }
  return path;
}

/** The URI of a content path; what it makes, `contentPath` takes back. */
export function contentUri(path: string): string {
  return SCHEME + path.split('/').map(encodeSegment).join('/');
}

function encodeSegment(segment: string): string {
  return encodeURIComponent(segment).replaceAll('%40', '@').replaceAll('%2B', '+').replaceAll('%2C', ',');
}

function withoutScheme(input: string): string {
  if (input.startsWith(SCHEME)) return input.slice(SCHEME.length);
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(input)?.[1];
  if (scheme !== undefined) {
    throw new BmadError(
      'invalid_input',
      t`The URI ${quoted(input)} has the scheme "${scheme.slice(0, 32)}".`,
      {
        subject: cut(input, PATH_LIMIT),
        hint: t`Only bmad:// URIs are served, such as bmad://bmm/config.yaml.`,
      },
    );
  }
  return input;
}

function decodeOnce(input: string, text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw refused(input, t`The path ${quoted(input)} is not valid percent-encoded UTF-8.`);
  }
}

function refused(input: string, message: string): BmadError {
  return new BmadError('forbidden', message, {
    subject: cut(input, PATH_LIMIT),
    hint: t`Use a path as the list of resources has it.`,
    steps: [{ operation: 'list', args: { what: 'resources' }, why: t`List the files` }],
  });
}

/** The folder of the project, as BMAD's texts, manifests and settings write it. */
const PROJECT = /^\{project[-_]root\}[\\/]?/;
const ROOTS = new Set([...ROOT_FOLDERS, '{bmad_folder}']);

/** A path of a text, a manifest or a setting, without the project that it may begin with. */
export const fromProject = (written: string): string => written.replace(PROJECT, '');

/** The same without BMAD's folder, whatever a text calls it; in an install that may be its `own` name. */
export function fromRoot(written: string, own?: string): string {
  const path = fromProject(written);
  const [first = ''] = path.split('/', 1);
  return first !== path && isRootName(first, own) ? path.slice(first.length + 1) : path;
}

export const isRootName = (name: string, own?: string): boolean => ROOTS.has(name) || name === own;

/** A path that somebody has written, from the top of the project; nothing for one that leads out of it. */
export function inProject(root: string, written: string): string | undefined {
  const plain = fromProject(written.trim()).replaceAll('\\', '/');
  const inside = isAbsolute(plain) ? relative(root, plain).split(sep).join('/') : plain;
  const path = posix.normalize(inside).replace(/\/$/, '');
  if (path === '..' || path.startsWith('../') || isAbsolute(path)) return undefined;
  return path === '.' ? '' : path;
}

/** What no URI can name cannot be asked for, and is not shown either. */
export function canBeNamed(path: string): boolean {
  return attempt(
    () => contentPath(contentUri(path)) === path,
    () => false,
  );
}

/**
 * Folders and files in a project that are this program's own state: the memory store with forgotten and masked content,
 * receipts, queues, runs and their locks. Operations show the parts that may be seen; as files they are never served.
 */
const OWN_STATE = /^\.(?:bmad-memory.*|receipts|tasks|runs)$/is;
const MEMORY_STATE = /^\.bmad-memory/i;

/** Whether a path, with either kind of slash, leads through this state or is part of it. */
export function isOwnState(path: string): boolean {
  // They all begin with a dot: most paths need not be taken apart.
  return /(?:^|[/\\])\./.test(path) && path.split(/[/\\]/).some((part) => OWN_STATE.test(part));
}

/** The same for the memory alone: artefacts of runs are work that others may read. */
export function isMemoryState(path: string): boolean {
  return path.split(/[/\\]/).some((part) => MEMORY_STATE.test(part));
}

/** Endings of texts: older texts of BMAD name templates and notes with the one they had then. */
const TEXT_ENDINGS: readonly string[] = ['.md', '.yaml', '.yml'];

/** A path with each of the other endings that a text may mean by its own; none where its own is not among them. */
export function otherEndings(path: string, endings = TEXT_ENDINGS): string[] {
  const own = posix.extname(path);
  if (!endings.includes(own)) return [];
  return endings.filter((each) => each !== own).map((each) => path.slice(0, -own.length) + each);
}

/** The name of a project's folder among those of the user; the path decides, the name is for people. */
export function projectKey(root: string): string {
  const key = sha256(root).slice(0, 12);
  const name = basename(root)
    .replace(/[^\w.-]+/g, '-')
    .slice(0, 40);
  return `${name}-${key}`;
}
