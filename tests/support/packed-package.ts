import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { withLock } from '../../src/base/files/file-lock.ts';
import { repository, temporaryFolder } from './app.ts';
import { bareEnvironment, runToEnd } from './programs.ts';

export interface PackedPackage {
  /** A folder of its own that has the package installed and nothing else. */
  folder: string;
  /** An empty home folder. */
  home: string;
  env: Record<string, string>;
  /** What the tarball holds. */
  files: string[];
}

/** A copy of the package as it is packed and installed, which is done once for all test files of a run. */
export async function installPackedPackage(
  onEnd: (cleanUp: () => Promise<void>) => void,
): Promise<PackedPackage> {
  const made = join(tmpdir(), 'packed-package');
  const list = join(made, 'files.json');
  await withLock(`${made}.lock`, { waitMs: 240_000 }, async () => {
    if (!existsSync(list)) await writeFile(list, JSON.stringify(await packAndInstall(made)));
  });
  const [home, folder] = [await temporaryFolder(onEnd), await temporaryFolder(onEnd)];
  await cp(join(made, 'installed'), folder, { recursive: true, verbatimSymlinks: true });
  const files = JSON.parse(await readFile(list, 'utf8')) as string[];
  return { folder, home, env: bareEnvironment(home), files };
}

/** Packs the package and installs the tarball, as a user of it does; answers with what the tarball holds. */
async function packAndInstall(top: string): Promise<string[]> {
  const [home, packed, folder] = [join(top, 'home'), join(top, 'packed'), join(top, 'installed')];
  for (const each of [home, packed, folder]) await mkdir(each, { recursive: true });
  const env = bareEnvironment(home);
  const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', packed];
  const report = await npm(pack, { cwd: repository, env });
  const [tarball] = JSON.parse(report) as { filename: string; files: { path: string }[] }[];
  // Offline, because a package without dependencies needs no registry.
  const flags = ['--no-audit', '--no-fund', '--offline'];
  await npm(['install', ...flags, join(packed, tarball?.filename ?? '')], { cwd: folder, env });
  return tarball?.files.map(({ path }) => path) ?? [];
}

/** The npm that runs these tests, else the one on the PATH. */
async function npm(
  args: readonly string[],
  options: { cwd: string; env: Record<string, string> },
): Promise<string> {
  const own = process.env['npm_execpath'];
  const [program, ...first] =
    own !== undefined && basename(own) === 'npm-cli.js' ? [process.execPath, own] : ['npm'];
  const { code, stdout, stderr } = await runToEnd(program, [...first, ...args], options);
  if (code !== 0) throw new Error(`npm ${args.join(' ')} ended with ${code}: ${stderr}`);
  return stdout.toString('utf8');
}
