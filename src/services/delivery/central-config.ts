import { basename } from 'node:path';
import type { Table } from '../../base/parse/parse.ts';
import type { ModuleInfo } from '../../model/module.ts';
import type { Tree } from '../../sources/tree.ts';
import { applyLayers, type Layered } from './layers.ts';

/** The files of the central configuration, the weakest first. */
export const CENTRAL_LAYERS = [
  'config.toml',
  'config.user.toml',
  'custom/config.toml',
  'custom/config.user.toml',
];

/**
 * The merged central configuration, as BMAD's `resolve_config.py` prints it. A project without an install gets what
 * the installer would have written: the defaults of the modules and the roster of their agents.
 */
export async function centralConfig(
  modules: readonly ModuleInfo[],
  projectRoot: string | undefined,
  bmad: Tree | undefined,
): Promise<Layered> {
  const installed = await applyLayers({}, bmad, CENTRAL_LAYERS);
  // An installed configuration is self-contained; one that cannot be used counts as none and is reported.
  if (installed.files.includes('config.toml')) return installed;
  return applyLayers(defaultConfig(modules, projectRoot), bmad, CENTRAL_LAYERS);
}

export function defaultConfig(modules: readonly ModuleInfo[], projectRoot: string | undefined): Table {
  const plain = new Map<string, string>([
    ['directory_name', projectRoot === undefined ? 'project' : basename(projectRoot)],
  ]);
  const values = new Map<string, Table>();
  // The core module's answers may be used in the defaults of the others.
  for (const module of [...modules].sort((a, b) => Number(b.code === 'core') - Number(a.code === 'core'))) {
    const answers: [string, string][] = [];
    for (const setting of module.settings) {
      const answer = setting.default.replace(
        /\{([\w-]+)\}/g,
        (whole, key: string) => plain.get(key) ?? whole,
      );
      plain.set(setting.key, answer);
      answers.push([setting.key, setting.result.replace('{value}', () => answer)]);
    }
    values.set(module.code, Object.fromEntries(answers));
  }
  const { core, ...others } = Object.fromEntries(values);
  return { ...(core === undefined ? {} : { core }), modules: others, agents: rosterTable(modules) };
}

function rosterTable(modules: readonly ModuleInfo[]): Table {
  return Object.fromEntries(
    modules.flatMap((module) =>
      module.roster.map(({ code, ...entry }) => [code, { module: module.code, ...entry }]),
    ),
  );
}
