import { BmadError } from '../../base/errors.ts';

/** A memory that can be recalled and not changed, because of where it lies. */
export function readOnlyFolder(folder: string, cause?: unknown): BmadError {
  return new BmadError('unavailable', `${folder} can only be read: this user may not write the folder.`, {
    subject: folder,
    hint: `Give the user that runs this server the right to write in ${folder}, then try again. What is in it can be recalled meanwhile.`,
    cause,
  });
}
