import { randomBytes } from 'node:crypto';
import { rename } from 'node:fs/promises';
import { writeFailure } from './file-failure.ts';
import { isAbsent } from './open-file.ts';

/** The name of a file until it is complete; one that a crash has left is known by it. */
export function draftOf(path: string): string {
  return `${path}.${process.pid}.${randomBytes(4).toString('hex')}.tmp`;
}

/** Gives a file another name on the same disk; whatever has that name is replaced. False if there is no such file. */
export async function moveFile(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (isAbsent(error)) return false;
    throw writeFailure(to, error);
  }
}
