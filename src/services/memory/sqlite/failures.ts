import { dirname } from 'node:path';
import { BmadError } from '../../../base/errors.ts';

/** What SQLite's result codes mean for the caller. */

const BUSY = 5;
const LOCKED = 6;
const READ_ONLY = 8;
const IO_ERROR = 10;
const CANNOT_OPEN = 14;

/** SQLite's own words: one of the drivers leaves the code out where many rows are read. */
const BY_TEXT: Readonly<Record<string, number>> = {
  'access permission denied': 3,
  'database is locked': BUSY,
  'database table is locked': LOCKED,
  'attempt to write a readonly database': READ_ONLY,
  'disk I/O error': IO_ERROR,
  'database disk image is malformed': 11,
  'database or disk is full': 13,
  'unable to open database file': CANNOT_OPEN,
  'file is not a database': 26,
};

/** The primary result code of SQLite. */
function primary(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('errcode' in error && typeof error.errcode === 'number') return error.errcode & 0xff;
  return 'code' in error && error.code === 'ERR_SQLITE_ERROR' ? BY_TEXT[error.message] : undefined;
}

export function isBusy(error: unknown): boolean {
  const code = primary(error);
  return code === BUSY || code === LOCKED;
}

/** The disk refused something, which may be the memory that processes share for a write-ahead log. */
export function isRefusedByDisk(error: unknown): boolean {
  return error instanceof BmadError && primary(error.cause) === IO_ERROR;
}

/** A file with a write-ahead log that cannot be opened where nothing may be written. */
export function needsWriting(error: unknown): boolean {
  const code = primary(error);
  return code === READ_ONLY || code === CANNOT_OPEN;
}

export function readOnlyFailure(path: string, cause?: unknown): BmadError {
  return new BmadError(
    'unavailable',
    `${path} is read-only: this user cannot write to the file or its folder.`,
    {
      subject: path,
      hint: `Give the user that runs this server write access to ${dirname(path)}, then try again. Its memories can still be recalled.`,
      cause,
    },
  );
}

/** Whether something failed because nothing may be written: it would have to be, or cannot be opened without. */
export function isReadOnlyFailure(error: BmadError): boolean {
  return error.message === readOnlyFailure(error.subject ?? '').message || needsWriting(error.cause);
}

export function takesTooLong(path: string, limitMs: number): BmadError {
  return new BmadError('unavailable', `${path} did not answer within ${Math.ceil(limitMs / 1_000)} s.`, {
    subject: path,
    hint: 'Check how large the file is and where it comes from.',
  });
}

/** A project may come with a file of any size, and whatever is in it is looked through by someone who waits. */
export function tooLarge(path: string): BmadError {
  return new BmadError('unavailable', `${path} is larger than 2 GiB and was not opened.`, {
    subject: path,
    hint: 'Find out where it comes from, and move it elsewhere if it is not yours. For very many memories, use Qdrant.',
  });
}

export function sqlFailure(path: string, error: unknown): unknown {
  const tell = (message: string, hint: string): BmadError =>
    new BmadError('unavailable', message, { subject: path, hint, cause: error });
  switch (primary(error) ?? 0) {
    case BUSY:
    case LOCKED:
      return tell(`Another process is using ${path}.`, 'Wait for it to finish, then try again.');
    case 3:
    case READ_ONLY:
      return readOnlyFailure(path, error);
    case CANNOT_OPEN:
      return tell(`${path} cannot be opened.`, 'Check the permissions of the file and of its folder.');
    case IO_ERROR:
      return tell(`${path} cannot be read or written: I/O error.`, 'Check the disk and its free space.');
    case 13:
      return tell(`${path} cannot be written: the disk is full.`, 'Free some space, then try again.');
    case 11:
    case 26:
      return tell(
        `${path} is damaged. It was left unchanged.`,
        `Move it elsewhere together with ${path}-wal and ${path}-shm, then import the last export of the memories; ` +
          `"sqlite3 ${path} .recover" may recover what is readable.`,
      );
    default:
      return isOfSqlite(error)
        ? tell(
            `${path} cannot be used: it holds something that this server has not written.`,
            'Find out who has changed it, then move it elsewhere and restore a daily copy, or import the last export.',
          )
        : error;
  }
}

/** Anything else that SQLite or its driver says about a file. Our statements are the same for each. */
function isOfSqlite(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof BmadError || !('code' in error)) return false;
  return error.code === 'ERR_SQLITE_ERROR' || error.code === 'ERR_OUT_OF_RANGE';
}
