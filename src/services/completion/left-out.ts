import { isAbsolute, posix, relative, sep } from 'node:path';
import type { Kit } from '../../kit/kit.ts';
import { isOutputName, NOTE } from '../../kit/output.ts';

/** Whether a file of the project, by its path below the root, is left out of what is verified. */
export type LeftOut = (path: string) => boolean;

/**
 * What agents write while they work is not verified: documents, and the files of this server. The project's
 * own configuration says where that is, so it is not believed any further: code counts wherever it is, and of a folder that
 * may as well hold the project's sources, only what cannot be one is left out.
 */
export function leftOutOf({ output }: Kit, root: string, state: string): LeftOut {
  const usual = FAMILIES.flatMap((name) => [`${name}-output`, `${name}/_memory`, `${name}/memory`]);
  const places = [
    ...usual.map((folder) => ({ folder, leaves: DOCUMENT })),
    ...(output === undefined ? [] : [{ folder: output, leaves: documentsOf(output) }]),
  ];
  const users = below(root, state);
  return (path) => {
    if (users !== undefined && path.startsWith(`${users}/`)) return true;
    return places.some(({ folder, leaves }) => {
      if (!path.startsWith(`${folder}/`)) return false;
      const [first = ''] = path.slice(folder.length + 1).split('/');
      const name = posix.basename(path);
      return leaves?.test(name) === true || (OWN_FOLDERS.has(first) && OWN_FILE.test(name));
    });
  };
}

const FAMILIES = ['_bmad', '_grimoire'];

function documentsOf(output: string): RegExp | undefined {
  // BMAD itself is there, whose documents are instructions.
  if (/^[._]?(?:bmad|grimoire)(?:\/|$)/i.test(output)) return undefined;
  return isOutputName(output) ? DOCUMENT : NOTE;
}

const DOCUMENT =
  /\.(?:md|markdown|txt|log|diff|patch|ya?ml|json|jsonl|csv|tsv|html?|xml|pdf|svg|png|jpe?g|gif|webp|excalidraw|drawio|mmd|puml|lock|tmp)$/i;

/** Folders of this server, and what it writes there. */
const OWN_FOLDERS = new Set(['.receipts', '.runs', '.tasks', '.memory', '.bmad-memory']);
const OWN_FILE = /^\.git(?:ignore|keep)$|\.(?:md|ya?ml|jsonl?|gz|log|lock|tmp|db|db-wal|db-shm|db-journal)$/;

/** The user's state folder may lie in the project, in a container for instance. */
function below(root: string, folder: string): string | undefined {
  const path = relative(root, folder).split(sep).join('/');
  return path === '' || path.startsWith('..') || isAbsolute(path) ? undefined : path;
}
