import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Files that programs look for wherever they look, and open without asking what they are. */
const HELPERS = new Set(['.gitignore', '.gitattributes', '.ignore', '.rgignore', '.git']);

interface Kind {
  isFIFO(): boolean;
  isCharacterDevice(): boolean;
}

/** Whoever opens one waits for someone to write to it, or reads for ever. */
const blocks = (kind: Kind): boolean => kind.isFIFO() || kind.isCharacterDevice();

/**
 * Whether a folder has a pipe or a device somewhere that a program such as git would open and never come back from: in
 * place of a helper file, or of one that git keeps for itself. Looks until it is told to stop.
 */
export async function hasBlockingFile(root: string, signal: AbortSignal): Promise<boolean> {
  const open = [{ folder: root, ofGit: false }];
  for (let next = open.shift(); next !== undefined && !signal.aborted; next = open.shift()) {
    const { folder, ofGit } = next;
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      const path = join(folder, entry.name);
      const isHelper = ofGit || HELPERS.has(entry.name);
      if (isHelper && blocks(entry)) return true;
      // A link is followed by some, whatever it leads to.
      if (isHelper && entry.isSymbolicLink() && (await leadsToOne(path))) return true;
      if (entry.isDirectory()) open.push({ folder: path, ofGit: ofGit || entry.name === '.git' });
    }
  }
  return false;
}

async function leadsToOne(path: string): Promise<boolean> {
  return stat(path).then(blocks, () => false);
}
