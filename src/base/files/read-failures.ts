import { say, t } from '../text/message.ts';
import type { Stats } from 'node:fs';
import { BmadError, quoted, shortageIn, systemCode } from '../errors.ts';

export function leadsAway(path: string): BmadError {
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

const REASONS: Record<string, string> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ELOOP: 'it is a link that points to itself',
  ENAMETOOLONG: 'its name is too long',
  ENXIO: 'it is not a regular file',
};

/** What the system had against reading a file. */
export const whyUnread = (error: unknown): string => say(REASONS[systemCode(error) ?? ''] ?? 'I/O error');

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
