import { basename, join } from 'node:path';
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

/** Packs the package and installs the tarball, as a user of it does. */
export async function installPackedPackage(
  onEnd: (cleanUp: () => Promise<void>) => void,
): Promise<PackedPackage> {
  const home = await temporaryFolder(onEnd);
  const packed = await temporaryFolder(onEnd);
  const folder = await temporaryFolder(onEnd);
  const env = bareEnvironment(home);
  const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', packed];
  const report = await npm(pack, { cwd: repository, env });
  const [tarball] = JSON.parse(report) as { filename: string; files: { path: string }[] }[];
  // Offline, because a package without dependencies needs no registry.
  const flags = ['--no-audit', '--no-fund', '--offline'];
  await npm(['install', ...flags, join(packed, tarball?.filename ?? '')], { cwd: folder, env });
  return { folder, home, env, files: tarball?.files.map(({ path }) => path) ?? [] };
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
