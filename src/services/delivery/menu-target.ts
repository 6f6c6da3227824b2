import { basename } from 'node:path';
import { fold } from '../../base/text/suggest.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { BmadRecord } from '../../model/record.ts';

/**
 * What an entry of an agent's menu starts. Old agents name a file below the BMAD folder, under whatever name that had,
 * newer ones a skill. What the agent's own origin has is meant first; an entry that leads nowhere starts nothing.
 */
export function menuTarget(written: string, agent: BmadRecord, catalogue: Catalogue): BmadRecord | undefined {
  const named = written.replace(/^skill:/, '');
  const found = named.includes('/') ? byPath(named, agent, catalogue) : byName(named, catalogue);
  const own = found.find(({ origin }) => origin === agent.origin) ?? found[0];
  if (own?.deprecated?.successor === undefined) return own;
  // An old name stands for what replaced it.
  return (
    byName(own.deprecated.successor, catalogue).find(({ deprecated }) => deprecated === undefined) ?? own
  );
}

const namesByCatalogue = new WeakMap<Catalogue, ReadonlyMap<string, readonly BmadRecord[]>>();

function byName(name: string, catalogue: Catalogue): readonly BmadRecord[] {
  const known = namesByCatalogue.get(catalogue) ?? namesOf(catalogue);
  namesByCatalogue.set(catalogue, known);
  return known.get(fold(name)) ?? [];
}

/** Made once: menus have dozens of entries, and catalogues may have thousands of records. */
function namesOf({ callable }: Catalogue): ReadonlyMap<string, readonly BmadRecord[]> {
  const names = new Map<string, BmadRecord[]>();
  for (const record of callable) {
    if (record.kind === 'agent') continue;
    const same = names.get(fold(record.name));
    if (same === undefined) names.set(fold(record.name), [record]);
    else same.push(record);
  }
  return names;
}

function byPath(written: string, agent: BmadRecord, { callable }: Catalogue): readonly BmadRecord[] {
  const inProject = written.replace(/^\{project-root\}\//, '');
  const folders = ['{bmad_folder}', '_bmad', '.bmad', 'bmad', basename(agent.origin.root)];
  const folder = folders.find((name) => inProject.startsWith(`${name}/`));
  const path = folder === undefined ? inProject : inProject.slice(folder.length + 1);
  return callable.filter(({ bmadRelativePath }) => bmadRelativePath === path);
}
