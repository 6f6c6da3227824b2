import { sourcesClear, sourcesList, sourcesResolve } from '../operations/git-sources/sources.ts';
import type { Asker } from './ask.ts';
import type * as Public from './public.ts';

export async function resolveGitSource({ ask }: Asker, gitUrl: string): Promise<string> {
  return (await ask<{ folder: string }>(sourcesResolve, { source: gitUrl })).folder;
}

interface Copy extends Omit<Public.CacheEntry, 'path'> {
  folder: string;
}

export async function listCache({ ask }: Asker): Promise<Public.CacheEntry[]> {
  const { copies = [] } = await ask<{ copies?: Copy[] }>(sourcesList, { copies: true });
  return copies.map(({ folder, ...copy }) => ({ ...copy, path: folder }));
}

export async function clearCache({ ask }: Asker): Promise<void> {
  await ask(sourcesClear, { all: true });
}
