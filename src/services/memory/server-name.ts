import { hostname } from 'node:os';
import { join } from 'node:path';
import { readState, writeAtomic } from '../../base/files/file-state.ts';
import { projectKey } from '../../base/files/project-key.ts';
import { gitOrigin, type GitQuestion } from '../../base/process/project-git.ts';
import { sha256 } from '../../base/sha256.ts';
import type { Kit } from '../../kit/kit.ts';

const DIGITS = 8;

interface Naming extends GitQuestion {
  /** The user's folder for what has no place in a project. */
  state: string;
  writes: boolean;
}

/**
 * The name of a project's memories on a server that other projects use too. The one that its page gives is what BMAD's own
 * tools call it. One of a folder or of an installer may be that of another project as well, so it goes with the first commit
 * of the repository, which clones and worktrees have in common, or with the place where there is none. Once used it stays,
 * though the project becomes a repository later.
 */
export async function serverName({ isNamed, app, root }: Kit, naming: Naming): Promise<string> {
  if (isNamed) return app;
  const file = join(naming.state, 'projects', projectKey(root), 'server-name');
  const used = (await readState(file).catch(() => undefined))?.trim();
  if (used?.startsWith(`${app}-`) === true) return used;
  const from = (await gitOrigin(root, naming)) ?? `${hostname()} ${root}`;
  const name = `${app}-${sha256(from).slice(0, DIGITS)}`;
  if (naming.writes) await writeAtomic(file, `${name}\n`);
  return name;
}
