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
  return new BmadError(
    'unavailable',
    `${path} cannot be ${what}: ${REASONS[code] ?? `I/O error (${code})`}.`,
    {
      subject: path,
      hint:
        shortageIn(error) ??
        (code === 'ENOSPC'
          ? 'Free some space, then try again.'
          : 'Check the folder and its permissions, then try again.'),
      cause: error,
    },
  );
}
