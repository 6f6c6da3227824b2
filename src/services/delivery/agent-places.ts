import { dirname } from 'node:path/posix';
import { attempt, unlessMissing } from '../../base/expected.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { behaviourOf } from '../../model/format.ts';
import type { BmadRecord } from '../../model/record.ts';
import type { Tree } from '../../sources/tree.ts';

/** The places of a customization below a BMAD root, the newer first. */
export const CUSTOMIZATION_FOLDERS = ['_config/agents', '_cfg/agents'];

/** `bmm-pm.customize.yaml`, by the file of the agent. */
export function customizationFile({ moduleName, bmadRelativePath }: BmadRecord): string {
  const file = bmadRelativePath.slice(bmadRelativePath.lastIndexOf('/') + 1);
  return `${moduleName}-${file.replace(/\.md$/i, '')}.customize.yaml`;
}

/** Where customizations of a compiled agent may be: the agent's own root first, then the project's. */
export function customizingSources({ origin }: BmadRecord, { sources }: Catalogue): Catalogue['sources'] {
  const own = sources.filter((source) => source.origin === origin);
  return [...own, ...sources.filter((source) => source.origin.kind === 'project' && !own.includes(source))];
}

/** Where everything is, or may come to be, that decides what an agent is. The built-in content does not change. */
export function placesOfAgent(agent: BmadRecord, catalogue: Catalogue, bmad: Tree | undefined): string[] {
  const { isSkill, isCompiled } = behaviourOf(agent);
  const own = catalogue.sources.find(({ origin }) => origin === agent.origin);
  const changing = catalogue.sources.filter(({ origin }) => origin.kind !== 'package');
  // What its own origin does not have of them is taken from another.
  const defaults = isSkill ? changing : [];
  const overrides = [`custom/${agent.name}.toml`, `custom/${agent.name}.user.toml`];
  return [
    ...(own === undefined || own.origin.kind === 'package' ? [] : placesIn(own.tree, agent.bmadRelativePath)),
    ...defaults.flatMap(({ tree }) => placesIn(tree, `${dirname(agent.bmadRelativePath)}/customize.toml`)),
    ...(isSkill && bmad !== undefined ? overrides.flatMap((path) => placesIn(bmad, path)) : []),
    ...(isCompiled ? customizingSources(agent, catalogue) : []).flatMap(({ tree }) =>
      CUSTOMIZATION_FOLDERS.flatMap((folder) => placesIn(tree, `${folder}/${customizationFile(agent)}`)),
    ),
  ];
}

/** Where a tree has a path, or would have it; a tree of a few folders has no place for what is in none of them. */
function placesIn(tree: Tree, path: string): string[] {
  const place = attempt(() => tree.place(path), unlessMissing);
  return place === undefined ? [] : [place];
}
