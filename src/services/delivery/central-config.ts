import { basename } from 'node:path';
import { BmadError } from '../../base/errors.ts';
import type { Table } from '../../base/parse.ts';
import type { ModuleInfo } from '../../model/module.ts';
import { optionalText, type Tree } from '../../sources/tree.ts';
import { applyLayers, type Layered } from './layers.ts';

const LAYERS = ['config.toml', 'config.user.toml', 'custom/config.toml', 'custom/config.user.toml'];

/**
 * The merged central configuration, as BMAD's `resolve_config.py` prints it. A project without an install gets what
 * the installer would have written: the defaults of the modules and the roster of their agents.
 */
export async function centralConfig(
  modules: readonly ModuleInfo[],
  projectRoot: string | undefined,
  bmad: Tree | undefined,
): Promise<Layered> {
  const installed = bmad !== undefined && (await isInstalled(bmad));
  return applyLayers(installed ? {} : defaultConfig(modules, projectRoot), bmad, LAYERS);
}

/** A configuration that cannot be read counts as none; it is reported where the layers are applied. */
async function isInstalled(bmad: Tree): Promise<boolean> {
  try {
    return (await optionalText(bmad, 'config.toml')) !== undefined;
  } catch (error) {
    if (error instanceof BmadError) return false;
    throw error;
  }
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
