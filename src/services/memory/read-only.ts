import { BmadError } from '../../base/errors.ts';

/** A memory that can be recalled but not changed, because of its location. */
export function readOnlyFolder(folder: string, cause?: unknown): BmadError {
  return new BmadError('unavailable', `${folder} is read-only: this user cannot write to the folder.`, {
    subject: folder,
    hint: `Give the user that runs this server write access to ${folder}, then try again. Its memories can still be recalled.`,
    cause,
  });
}
