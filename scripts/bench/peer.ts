import { join } from 'node:path';
import { installedPackage, manifestIn } from './npm-package.ts';

const PACKAGE = 'bmad-mcp-server';
const VERSION = '3.0.1';

export interface Peer {
  /** The file that starts its server. */
  entry: string;
  /** The package and what it runs on, since its dependencies are ranges. */
  label: string;
}

/** The published package; without it, what is compared with it is reported as not measured. */
export async function installedPeer(folder: string, say: (line: string) => void): Promise<Peer | undefined> {
  const peer = await installedPackage(folder, PACKAGE, VERSION, say);
  if (peer === undefined) {
    say('Going on without the peer.');
    return undefined;
  }
  const bin = typeof peer.manifest.bin === 'string' ? peer.manifest.bin : peer.manifest.bin?.[PACKAGE];
  if (bin === undefined) throw new Error(`${PACKAGE}@${VERSION} has no program named ${PACKAGE}.`);
  const sdk = await manifestIn(join(folder, 'node_modules', '@modelcontextprotocol', 'sdk'));
  const runsOn = sdk === undefined ? '' : ` on @modelcontextprotocol/sdk ${sdk.version}`;
  return { entry: join(peer.home, bin), label: `${PACKAGE}@${VERSION}${runsOn}` };
}
