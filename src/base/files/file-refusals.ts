import { sep } from 'node:path';
import { BmadError, shortageIn, systemCode } from '../errors.ts';
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

function linked(path: string): BmadError {
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

const FAILED_BECAUSE: Record<string, string> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is exceeded',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the disk is read-only',
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
  const known = FAILED_BECAUSE[code];
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
