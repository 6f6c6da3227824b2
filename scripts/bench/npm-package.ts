import { spawnSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const INSTALL_TIMEOUT_MS = 300_000;

export interface Manifest {
  version: string;
  bin?: string | Record<string, string>;
}

export interface NpmPackage {
  /** Its folder. */
  home: string;
  manifest: Manifest;
}

/**
 * A published package that only a benchmark needs, fetched into `folder` when it is not there yet; nothing if npm cannot
 * fetch it.
 */
export async function installedPackage(
  folder: string,
  name: string,
  version: string,
  say: (line: string) => void,
): Promise<NpmPackage | undefined> {
  const known = await packageIn(folder, name, version);
  if (known !== undefined) return known;
  say(`fetching ${name}@${version} with npm`);
  await mkdir(folder, { recursive: true });
  // A package.json of its own keeps npm from installing into the project around it.
  await writeFile(join(folder, 'package.json'), '{ "private": true }\n');
  const problem = npmInstall(folder, `${name}@${version}`);
  const fetched = problem === undefined ? await packageIn(folder, name, version) : undefined;
  if (fetched === undefined)
    say(`npm could not fetch ${name}@${version} (${problem ?? 'the package is not in its folder'}).`);
  return fetched;
}

async function packageIn(folder: string, name: string, version: string): Promise<NpmPackage | undefined> {
  const home = join(folder, 'node_modules', name);
  const manifest = await manifestIn(home);
  return manifest?.version === version ? { home, manifest } : undefined;
}

export async function manifestIn(folder: string): Promise<Manifest | undefined> {
  try {
    return JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Manifest;
  } catch {
    return undefined;
  }
}

/** What went wrong, or nothing. Runs npm as a Node program, since on Windows `npm` itself needs a shell. */
function npmInstall(folder: string, what: string): string | undefined {
  const cli = process.env['npm_execpath'];
  const [program, first] = cli === undefined ? ['npm', []] : [process.execPath, [cli]];
  // The packages need no install scripts, and a benchmark has no business running any.
  const args = [
    'install',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--fetch-retries=1',
    '--loglevel=error',
  ];
  const { error, signal, status } = spawnSync(program, [...first, ...args, what], {
    cwd: folder,
    stdio: ['ignore', 2, 2],
    timeout: INSTALL_TIMEOUT_MS,
  });
  if (error !== undefined) return error.message;
  return status === 0 ? undefined : `npm ended with ${signal ?? `code ${status}`}`;
}
