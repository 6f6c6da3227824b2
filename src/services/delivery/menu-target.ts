import { basename } from 'node:path';
import { grouped } from '../../base/grouped.ts';
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

/** What an entry may mean, by the two ways of saying it. */
interface Targets {
  byName: ReadonlyMap<string, readonly BmadRecord[]>;
  byPath: ReadonlyMap<string, readonly BmadRecord[]>;
}

const targetsByCatalogue = new WeakMap<Catalogue, Targets>();

/** Made once: menus have dozens of entries, and catalogues may have thousands of records. */
function targetsIn(catalogue: Catalogue): Targets {
  const known = targetsByCatalogue.get(catalogue);
  if (known !== undefined) return known;
  const made = {
    byName: grouped(
      catalogue.callable.filter(({ kind }) => kind !== 'agent'),
      ({ name }) => fold(name),
    ),
    byPath: grouped(catalogue.callable, ({ bmadRelativePath }) => bmadRelativePath),
  };
  targetsByCatalogue.set(catalogue, made);
  return made;
}

function byName(name: string, catalogue: Catalogue): readonly BmadRecord[] {
  return targetsIn(catalogue).byName.get(fold(name)) ?? [];
}

function byPath(written: string, agent: BmadRecord, catalogue: Catalogue): readonly BmadRecord[] {
  const inProject = written.replace(/^\{project-root\}\//, '');
  const folders = ['{bmad_folder}', '_bmad', '.bmad', 'bmad', basename(agent.origin.root)];
  const folder = folders.find((name) => inProject.startsWith(`${name}/`));
  const path = folder === undefined ? inProject : inProject.slice(folder.length + 1);
  return targetsIn(catalogue).byPath.get(path) ?? [];
}
