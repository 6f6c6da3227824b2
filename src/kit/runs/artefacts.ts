import { isAbsolute, join, relative, sep } from 'node:path';
import { modifiedInside, realFolder } from '../../base/files/files.ts';
import type { RunArtefact, RunPlace } from '../../model/run.ts';

/** The folder itself, or out of it. */
const LEADS_UP = /^\.{1,2}$|^\.\.[\\/]/;

/**
 * Where an artefact is, from the top of the project: paths are written from the run's own folder or from the top.
 * Undefined if there is no such file in the project, or a link leads out of it.
 */
export async function artefactFile(root: string, place: RunPlace, path: string): Promise<string | undefined> {
  const given = path.replaceAll('\\', '/').replace(/^\{project-root\}\//, '');
  const absolute = isAbsolute(given);
  const inside = absolute ? await fromTop(root, given) : join(given);
  // From the run's own folder only what is inside it; other paths begin at the top of the project.
  const own =
    absolute || place.base !== root || LEADS_UP.test(join(given)) ? undefined : join(place.path, given);
  for (const candidate of [own, inside]) {
    const clean = candidate?.split(sep).join('/');
    if (clean === undefined || LEADS_UP.test(clean)) continue;
    if ((await modifiedInside(root, clean)) !== undefined) return clean;
  }
  return undefined;
}

/** An absolute path as one from the top of the project; nothing when it leads elsewhere. */
async function fromTop(root: string, path: string): Promise<string | undefined> {
  const real = (await realFolder(root)) ?? root;
  const inner = [relative(real, path), relative(root, path)].find(
    (each) => !each.startsWith('..') && each !== '',
  );
  return inner;
}

export async function withFiles(
  root: string,
  place: RunPlace,
  artefacts: readonly RunArtefact[],
): Promise<RunArtefact[]> {
  const found: RunArtefact[] = [];
  for (const each of artefacts) found.push({ ...each, file: await artefactFile(root, place, each.path) });
  return found;
}
