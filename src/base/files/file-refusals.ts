import type { Stats } from 'node:fs';
import { sep } from 'node:path';
import { BmadError, quoted, shortageIn, systemCode } from '../errors.ts';
import { say, t } from '../text/message.ts';

/** Why a file was not opened, in words. */

/** What an error of the system means for whoever wanted the file. */
export function refusalOf(path: string, error: unknown): unknown {
  const code = systemCode(error);
  // Where a link stands in for the file, systems differ in what they call it.
  if (code === 'ELOOP' || code === 'EMLINK') return linked(path);
  if (code === 'ENXIO') return strange(path, t`it is not a regular file`);
  return code === 'EISDIR' ? strange(path, t`it is a folder`) : error;
}

const outside = (path: string, message: string, hint: string): BmadError =>
  new BmadError('forbidden', message, { reason: 'outside', subject: path, hint });

export function linked(path: string): BmadError {
  return outside(
    path,
    t`${path} is a link; it was not followed.`,
    t`Remove the link, or replace it with a regular file.`,
  );
}

/** In a project: what is written to a file would be in all files that it is. */
export function twice(path: string): BmadError {
  return outside(
    path,
    t`${path} has more than one name (hard links); it was not written.`,
    t`Replace it with a copy of itself.`,
  );
}

export function leadsAway(path: string): BmadError {
  return outside(
    path,
    t`${path} leads outside its folder; nothing was read or written.`,
    t`Replace the link with a real folder or file.`,
  );
}

const unusable = (path: string, message: string, hint: string): BmadError =>
  new BmadError('unavailable', message, { subject: path, hint });

export function replaced(path: string): BmadError {
  return unusable(path, t`${path} was replaced while it was being opened.`, t`Try again.`);
}

export function strange(path: string, reason: string): BmadError {
  return unusable(
    path,
    t`${path} cannot be read: ${reason}.`,
    t`Check what is at this path, and remove it or replace it with a regular file.`,
  );
}

/** Hooks and settings of git start programs: nothing of ours is ever written there, whatever leads to them. */
export function isOfGit(root: string, path: string): boolean {
  return path
    .slice(root.length)
    .split(sep)
    .some((name) => name.toLowerCase() === '.git');
}

const REFUSED_BECAUSE: Record<string, string> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is exceeded',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the disk is read-only',
  ELOOP: 'it is a link that points to itself',
  ENAMETOOLONG: 'its name is too long',
  ENXIO: 'it is not a regular file',
};

/** Why one of the server's own files could not be written, and what to do. */
export const writeFailure = (path: string, error: unknown): BmadError => failure(path, 'written', error);
export const stateReadFailure = (path: string, error: unknown): BmadError => failure(path, 'read', error);

const PASSING = new Set(['ENOSPC', 'EDQUOT', 'EIO', 'EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'EBUSY']);

/** Whether trying again later may help: the disk was full or failed, or too much was open. */
export function mayPass({ cause }: BmadError): boolean {
  return PASSING.has(systemCode(cause) ?? '');
}

function failure(path: string, what: 'read' | 'written', error: unknown): BmadError {
  if (error instanceof BmadError) return error;
  const code = systemCode(error) ?? '';
  const known = REFUSED_BECAUSE[code];
  const reason = known === undefined ? t`I/O error (${code})` : say(known);
  return new BmadError(
    'unavailable',
    what === 'read' ? t`${path} cannot be read: ${reason}.` : t`${path} cannot be written: ${reason}.`,
    {
      subject: path,
      hint:
        shortageIn(error) ??
        (code === 'ENOSPC'
          ? t`Free some space, then try again.`
          : t`Check the folder and its permissions, then try again.`),
      cause: error,
    },
  );
}

/** What follows is said of content, by the name that was asked for. */

export function leadsAwayFromContent(path: string): BmadError {
  return new BmadError('forbidden', t`${quoted(path)} is a link that points outside the BMAD content.`, {
    reason: 'outside',
    subject: path,
    hint: t`Links are followed only within their own folder. Replace the link with the file itself.`,
  });
}

/**
 * Most requested files do not exist, and their callers continue without them. This error has no stack: recording one would
 * take ten times as long as the lookup.
 */
export function missing(path: string): BmadError {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    return new BmadError('not_found', t`There is no file ${quoted(path)}.`, { subject: path });
  } finally {
    Error.stackTraceLimit = limit;
  }
}

export function readFailure(path: string, error: unknown): BmadError {
  if (error instanceof BmadError) return error;
  // The file is not missing: a caller that went on without it would think the folder emptier than it is.
  if (shortageIn(error) !== undefined) throw error;
  const code = systemCode(error);
  if (code === 'ENOENT' || code === 'ENOTDIR') return missing(path);
  if (code === 'EISDIR') return isFolder(path);
  return new BmadError('forbidden', t`${quoted(path)} cannot be read: ${whyUnread(error)}.`, {
    subject: path,
    hint: t`Check the file and its permissions, then try again.`,
    cause: error,
  });
}

/** What the system had against reading a file. */
export const whyUnread = (error: unknown): string =>
  say(REFUSED_BECAUSE[systemCode(error) ?? ''] ?? 'I/O error');

/** A regular file of at most that size, and nothing else. */
export function servable(info: Stats, path: string, maxBytes: number): Stats {
  if (info.isDirectory()) throw isFolder(path);
  if (!info.isFile()) {
    throw new BmadError('forbidden', t`${quoted(path)} is not a regular file.`, {
      subject: path,
      hint: t`Pipes, sockets and devices are not served.`,
    });
  }
  if (info.size > maxBytes) throw tooLarge(path, info.size, maxBytes);
  return info;
}

function isFolder(path: string): BmadError {
  return new BmadError('forbidden', t`${quoted(path)} is a folder, not a file.`, {
    reason: 'folder',
    subject: path,
    steps: [
      {
        operation: 'list',
        args: { what: 'resources', pattern: `${path.slice(0, 100)}/**` },
        why: t`List its files`,
      },
    ],
  });
}

function tooLarge(path: string, size: number, limit: number): BmadError {
  return new BmadError('too_large', t`${quoted(path)} is ${size} bytes long; the limit is ${limit}.`, {
    subject: path,
    hint: t`If this file should be served, raise the limit with BMAD_MAX_FILE_BYTES.`,
  });
}

/** For what opens a file: throws what its reader is to hear. */
export const failed =
  (path: string) =>
  (error: unknown): never => {
    throw readFailure(path, error);
  };

/** A memory that can be recalled but not changed, because of its location. */
export function readOnlyFolder(folder: string, cause?: unknown): BmadError {
  return new BmadError('unavailable', t`${folder} is read-only: this user cannot write to the folder.`, {
    subject: folder,
    hint: t`Give the user that runs this server write access to ${folder}, then try again. Its memories can still be recalled.`,
    cause,
  });
}
