import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Files that programs look for wherever they look, and open without asking what they are. */
const HELPERS = new Set(['.gitignore', '.gitattributes', '.ignore', '.rgignore', '.git']);
/** More than any project has; what is looked at is kept in memory. */
const MOST_FOLDERS = 500_000;

/**
 * Whether a folder has a pipe or a device somewhere that a program such as git would open and never come back from: in
 * place of a helper file, or of one that git keeps for itself. Looks until it is told to stop.
 */
export async function hasBlockingFile(root: string, signal: AbortSignal): Promise<boolean> {
  const open = [{ folder: root, ofGit: false }];
  for (const { folder, ofGit } of open) {
    if (signal.aborted) return false;
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      const path = join(folder, entry.name);
      const isFolder = entry.isDirectory();
      if ((ofGit || HELPERS.has(entry.name)) && !entry.isFile() && !isFolder && (await blocks(path)))
        return true;
      if (isFolder && open.length < MOST_FOLDERS)
        open.push({ folder: path, ofGit: ofGit || entry.name === '.git' });
    }
  }
  return false;
}

/**
 * A program that opens one waits for someone to write to it, or reads for ever. Links are followed by some programs,
 * wherever they lead. The null device ends at once: files are switched off with it.
 */
async function blocks(path: string): Promise<boolean> {
  const kind = await stat(path).catch(() => undefined);
  if (kind === undefined) return false;
  if (!kind.isCharacterDevice()) return kind.isFIFO();
  const empty = await stat('/dev/null').catch(() => undefined);
  return kind.rdev !== empty?.rdev;
}
