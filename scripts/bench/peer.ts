import { spawnSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const PACKAGE = 'bmad-mcp-server';
const VERSION = '3.0.1';
const INSTALL_TIMEOUT_MS = 300_000;

export interface Peer {
  /** The file that starts its server. */
  entry: string;
  /** The package and what it runs on, since its dependencies are ranges. */
  label: string;
}

interface Manifest {
  version: string;
  bin?: string | Record<string, string>;
}

/** The published package, fetched into `folder` when it is not there yet; nothing if npm cannot fetch it. */
export async function installedPeer(folder: string, say: (line: string) => void): Promise<Peer | undefined> {
  const known = await peerIn(folder);
  if (known !== undefined) return known;
  say(`fetching ${PACKAGE}@${VERSION} with npm`);
  await mkdir(folder, { recursive: true });
  // A package.json of its own keeps npm from installing into the project around it.
  await writeFile(join(folder, 'package.json'), '{ "private": true }\n');
  const problem = npmInstall(folder);
  const fetched = problem === undefined ? await peerIn(folder) : undefined;
  if (fetched === undefined) {
    say(
      `npm could not fetch ${PACKAGE}@${VERSION} (${problem ?? 'the package is not in its folder'}). ` +
        'Going on without the peer; what is compared with it is reported as not measured.',
    );
  }
  return fetched;
}

async function peerIn(folder: string): Promise<Peer | undefined> {
  const home = join(folder, 'node_modules', PACKAGE);
  const manifest = await manifestIn(home);
  if (manifest?.version !== VERSION) return undefined;
  const bin = typeof manifest.bin === 'string' ? manifest.bin : manifest.bin?.[PACKAGE];
  if (bin === undefined) throw new Error(`${PACKAGE}@${VERSION} has no program named ${PACKAGE}.`);
  const sdk = await manifestIn(join(folder, 'node_modules', '@modelcontextprotocol', 'sdk'));
  const runsOn = sdk === undefined ? '' : ` on @modelcontextprotocol/sdk ${sdk.version}`;
  return { entry: join(home, bin), label: `${PACKAGE}@${VERSION}${runsOn}` };
}

async function manifestIn(folder: string): Promise<Manifest | undefined> {
  try {
    return JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Manifest;
  } catch {
    return undefined;
  }
}

/** What went wrong, or nothing. Runs npm as a Node program, since on Windows `npm` itself needs a shell. */
function npmInstall(folder: string): string | undefined {
  const cli = process.env['npm_execpath'];
  const [program, first] = cli === undefined ? ['npm', []] : [process.execPath, [cli]];
  // The package needs no install scripts, and a benchmark has no business running any.
  const args = [
    'install',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--fetch-retries=1',
    '--loglevel=error',
  ];
  const { error, signal, status } = spawnSync(program, [...first, ...args, `${PACKAGE}@${VERSION}`], {
    cwd: folder,
    stdio: ['ignore', 2, 2],
    timeout: INSTALL_TIMEOUT_MS,
  });
  if (error !== undefined) return error.message;
  return status === 0 ? undefined : `npm ended with ${signal ?? `code ${status}`}`;
}
