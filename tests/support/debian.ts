import { spawnSync } from 'node:child_process';

/**
 * A program that a Debian package brings, installed when it is not there yet. Nothing, where that cannot be done: whoever
 * is not root, or not on Debian, installs it first or goes without these tests.
 */
export function debianProgram(program: string, packageName = program): string | undefined {
  if (runs(program)) return program;
  if (process.getuid?.() !== 0 || !runs('apt-get')) return undefined;
  // Other tests may be installing something at the same moment.
  const apt = (...args: string[]): boolean =>
    spawnSync('apt-get', ['-qq', '-o', 'DPkg::Lock::Timeout=300', ...args], {
      stdio: ['ignore', 'ignore', 2],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      timeout: 300_000,
    }).status === 0;
  const install = (): boolean => apt('install', '-y', '--no-install-recommends', packageName);
  return (install() || (apt('update') && install())) && runs(program) ? program : undefined;
}

function runs(program: string): boolean {
  return spawnSync('which', [program], { stdio: 'ignore' }).status === 0;
}
