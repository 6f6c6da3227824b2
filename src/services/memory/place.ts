import { ours } from '../../base/errors.ts';
import { stateNames } from '../../base/files/file-state.ts';
import { linesPlace, refuseLinks, jailOf, type Kit } from '../../kit/kit.ts';
import { isLineDay } from '../../lines/folders.ts';

/** Whether a project has memories of its own. By itself, because what opens them is large and most projects have none. */
export async function hasStore(kit: Kit): Promise<boolean> {
  const { folder, also } = linesPlace(kit);
  return (await isUsed(folder)) || (also !== undefined && (await isUsed(also).catch(ours(() => false))));
}

/** Whether there is something in a place: lines, or the store of a version before them. */
export async function isUsed(folder: string): Promise<boolean> {
  await refuseLinks(folder);
  return (await stateNames(folder, jailOf(folder))).some((name) => isLineDay(name) || OLD.test(name));
}

const OLD = /^\.bmad-memory\.(?:db|jsonl)$/;
