import { say, t } from '../text/message.ts';
import { BmadError, shortageIn, systemCode } from '../errors.ts';

const REASONS: Record<string, string> = {
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
  const known = REASONS[code];
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
