import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GitCache } from '../../src/sources/git/cache.ts';
import { makeRepository, type TestRepository } from './git-repository.ts';

/** A cache below a folder that is also the home folder, so that a test can put a git configuration there. */
export function gitCacheIn(
  home: string,
  more: { folder?: string; env?: Record<string, string>; now?: () => number } = {},
): GitCache {
  return new GitCache({
    folder: more.folder ?? join(home, 'cache'),
    env: { PATH: process.env['PATH'], HOME: home, ...more.env },
    timeoutMs: 120_000,
    now: more.now ?? Date.now,
  });
}

/** The texts of all files below a folder. */
export async function textsIn(place: string): Promise<Record<string, string>> {
  const files = (await readdir(place, { recursive: true, withFileTypes: true })).filter((entry) =>
    entry.isFile(),
  );
  const texts = files.map(async (entry) => {
    const path = join(entry.parentPath, entry.name);
    return [path.slice(place.length + 1), await readFile(path, 'utf8')] as const;
  });
  return Object.fromEntries(await Promise.all(texts));
}

/** A repository with two commits on `main`; the first has tags of both kinds and a branch. */
export async function teamRepository(
  parent: string,
): Promise<{ team: TestRepository; first: string; second: string }> {
  const team = await makeRepository(parent, 'team', {
    'agents/ada.md': 'one',
    'packs/x/agents/bob.md': 'bob',
  });
  const first = await team.git('rev-parse', 'HEAD');
  await team.git('tag', 'v1');
  await team.git('tag', '-a', 'v1-annotated', '-m', 'First');
  await team.git('push', '--quiet', 'origin', '--tags');
  const second = await team.commit({ 'agents/ada.md': 'two' });
  await team.git('push', '--quiet', 'origin', `${first}:refs/heads/feature/x-1`);
  return { team, first, second };
}
