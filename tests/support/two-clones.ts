import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { temporaryFolder } from './app.ts';
import { writeFiles } from './folders.ts';
import { sessionIn, type OpenSession } from './operations.ts';

export const WHO = ['-c', 'user.name=Test', '-c', 'user.email=test@example.org'];

/** What the kit's project has in its .gitignore, as setup offers it: what tells of one machine's last moments. */
export const PASSING = '_bmad/_memory/activity.jsonl\n_bmad/_memory/session-state.md\n';

export const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', [...WHO, ...args], { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });

export function commit(cwd: string): void {
  git(cwd, 'add', '-A');
  git(cwd, 'commit', '-qm', 'work', '--allow-empty');
}

/** A server on a machine of its own. */
export async function machineIn(folder: string): Promise<OpenSession> {
  const home = await temporaryFolder(onTestFinished);
  const session = await sessionIn(folder, { home, flags: { embedder: 'none' } });
  onTestFinished(() => session.close());
  return session;
}

/** A repository with these files, and the way to its clone beside it, which is made of what is committed. */
export async function repositoryOfTwo(
  files: Readonly<Record<string, string>>,
): Promise<{ one: string; two: string; clone(): void }> {
  const parent = await temporaryFolder(onTestFinished);
  const [one, two] = [join(parent, 'one'), join(parent, 'two')];
  await writeFiles(one, files);
  git(one, 'init', '-q', '-b', 'main');
  return {
    one,
    two,
    clone() {
      commit(one);
      git(parent, 'clone', '-q', 'one', 'two');
    },
  };
}
