import { hasBlockingFile } from '../files/blocking-files.ts';

/** A program that has answered by then was not kept waiting. */
const SLOW_MS = 250;

/**
 * Runs a program that reads helper files of a project, such as ignore files. The author of the project may have put a pipe
 * in place of one, which nobody ever writes to: where there is one, the program is ended, and the answer is nothing.
 * Looking for it takes longer than most programs do, so it begins when one is slow.
 */
export async function unlessBlocked<T>(
  root: string,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  const [ending, done] = [new AbortController(), new AbortController()];
  const look = async (): Promise<void> => {
    if (await hasBlockingFile(root, done.signal)) ending.abort();
  };
  const timer = setTimeout(() => void look(), SLOW_MS);
  try {
    return await work(AbortSignal.any([signal, ending.signal]));
  } catch (error) {
    if (ending.signal.aborted && !signal.aborted) return undefined;
    throw error;
  } finally {
    clearTimeout(timer);
    done.abort();
  }
}
