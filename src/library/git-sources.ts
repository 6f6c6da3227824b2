import { present } from '../base/present.ts';
import { sourcesClear, sourcesList, sourcesResolve } from '../operations/index.ts';
import { parseGitAddress } from '../sources/git/address.ts';
import type { Asker } from './ask.ts';
import type { CacheEntry, GitUrlSpec } from './public.ts';

export async function resolveGitSource({ ask }: Asker, gitUrl: string): Promise<string> {
  return (await ask<{ folder: string }>(sourcesResolve, { source: gitUrl })).folder;
}

interface Copy extends Omit<CacheEntry, 'path'> {
  folder: string;
}

export async function listCache({ ask }: Asker): Promise<CacheEntry[]> {
  const { copies = [] } = await ask<{ copies?: Copy[] }>(sourcesList, { copies: true });
  return copies.map(({ folder, ...copy }) => ({ ...copy, path: folder }));
}

export async function clearCache({ ask }: Asker): Promise<void> {
  await ask(sourcesClear, { all: true });
}

/** Only the parts: what is made of them for the cache, and credentials, stay inside. */
export function parseGitUrl(gitUrl: string): GitUrlSpec {
  const { protocol, host, org, repo, ref, subpath } = parseGitAddress(gitUrl);
  return present<GitUrlSpec>({ protocol, host, org, repo, ref, subpath });
}
