import { attempt } from '../../base/expected.ts';
import { parseGitAddress, type GitAddress } from '../../sources/git/address.ts';
import { readPins } from './lock-file.ts';

export interface PinnedCopy {
  address: GitAddress;
  commit: string;
}

/** What a lock file on this machine leads to; one that cannot be read leads nowhere. */
export async function pinnedCopies(lock: string): Promise<PinnedCopy[]> {
  const pins = await readPins(lock).catch(() => ({}));
  return Object.entries(pins).flatMap(([source, { commit }]) => {
    const address = parsedOr(source);
    return address === undefined ? [] : [{ address, commit }];
  });
}

export function parsedOr(text: string): GitAddress | undefined {
  return attempt(
    () => parseGitAddress(text),
    () => undefined,
  );
}
