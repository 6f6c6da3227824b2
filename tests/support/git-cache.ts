import { mkdtemp, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GitCache } from '../../src/sources/git/cache.ts';
import { makeRepository, openRepository, type TestRepository } from './git-repository.ts';
import { copyFolder } from './folders.ts';

/** A cache below a folder that is also the home folder, so that a test can put a git configuration there. */
export function gitCacheIn(
  home: string,
  more: { folder?: string; env?: Record<string, string>; now?: () => number } = {},
): GitCache {
  return new GitCache({
    folder: more.folder ?? join(home, 'cache'),
    env: { PATH: process.env['PATH'], HOME: home, ...more.env },
    timeoutMs: 120_000,
    besides: [],
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

interface Team {
  team: TestRepository;
  first: string;
  second: string;
}

let model: Promise<Team> | undefined;

/** A repository with two commits on `main`; the first has tags of both kinds and a branch. */
export async function teamRepository(parent: string): Promise<Team> {
  const { team, first, second } = await (model ??= modelTeam());
  const folder = join(parent, 'team.git');
  copyFolder(team.folder, folder);
  return { team: openRepository(folder, { head: second }), first, second };
}

async function modelTeam(): Promise<Team> {
  const parent = await mkdtemp(join(tmpdir(), 'bmad-team-'));
  const team = await makeRepository(parent, 'team', {
    'agents/ada.md': 'one',
    'packs/x/agents/bob.md': 'bob',
  });
  const first = team.head;
  await team.git('tag', 'v1');
  await team.git('tag', '-a', 'v1-annotated', '-m', 'First');
  await team.git('push', '--quiet', 'origin', '--tags', `${first}:refs/heads/feature/x-1`);
  const second = await team.commit({ 'agents/ada.md': 'two' });
  return { team, first, second };
}
