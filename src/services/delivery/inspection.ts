import { behaviourOf } from '../../model/format.ts';
import { expected } from '../../base/expected.ts';
import { field, isTable } from '../../base/parse/parse.ts';
import { contentUri } from '../../base/files/paths.ts';
import { maskSecretValues } from '../../base/secrets/secrets.ts';
import { oneLine } from '../../base/text/text.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { BmadRecord, Problem } from '../../model/record.ts';
import type { Tree } from '../../sources/tree.ts';
import { CENTRAL_LAYERS } from './central-config.ts';
import { layerValues, type LayerValue } from './provenance.ts';
import { resolveSkill, skillFolder, type SkillResolver } from './resolve-skill.ts';

/** One place where a value is set. */
interface ShownLayer {
  key: string;
  file: string;
  line?: number;
  value: string;
  /** Whether it is the one in force. */
  chosen: boolean;
}

/** Questions about where merged values come from, and whether the project's own files can be used. */
export interface Inspection {
  /** Where each customized value of a skill is set, the weakest layer first. */
  layersOf(record: BmadRecord): Promise<ShownLayer[]>;
  /** Where a key of the central configuration is set, the weakest layer first. */
  layersOfKey(key: string): Promise<ShownLayer[]>;
  /** What is wrong with the project's own configuration and overrides. */
  check(): Promise<Problem[]>;
}

export function createInspection(catalogue: Catalogue, resolver: SkillResolver): Inspection {
  async function check(): Promise<Problem[]> {
    const problems = [...(await resolver.centralProblems())];
    for (const name of await namesIn(await resolver.projectBmad(), 'custom')) {
      const skill = /^(.+?)(?:\.user)?\.toml$/.exec(name)?.[1];
      if (skill === undefined || skill === 'config') continue;
      const record = catalogue.winners.find((candidate) => candidate.name === skill);
      if (record === undefined)
        problems.push({
          file: `_bmad/custom/${name}`,
          message: `nothing is named "${skill}", so this file has no effect`,
        });
      else
        problems.push(
          ...(await resolveSkill(record, resolver)).problems.filter(
            ({ file: where }) => where === `_bmad/custom/${name}`,
          ),
        );
    }
    return problems;
  }

  async function layersOf(record: BmadRecord): Promise<ShownLayer[]> {
    if (!behaviourOf(record).isSkill) return [];
    const bmad = await resolver.projectBmad();
    const resolved = await resolveSkill(record, resolver);
    const source = catalogue.sources.find(({ origin }) => origin === record.origin);
    const own = `${skillFolder(record)}/customize.toml`;
    const layers = [
      ...(source === undefined ? [] : [{ tree: source.tree, file: own, shown: contentUri(own) }]),
      ...(bmad === undefined
        ? []
        : resolved.overrides.map((name) => ({ tree: bmad, file: name, shown: `_bmad/${name}` }))),
    ];
    const keys = Object.entries(resolved.customization).flatMap(([table, inner]) =>
      isTable(inner) ? Object.keys(inner).map((key) => `${table}.${key}`) : [table],
    );
    const shown: ShownLayer[] = [];
    for (const key of keys) shown.push(...shownLayers(key, await layerValues(layers, key)));
    return shown;
  }

  async function layersOfKey(key: string): Promise<ShownLayer[]> {
    const full = key.includes('.')
      ? [key]
      : [`core.${key}`, ...catalogue.modules.map(({ code }) => `modules.${code}.${key}`)];
    const bmad = await resolver.projectBmad();
    const values = await resolver.central();
    for (const candidate of full) {
      const layers =
        bmad === undefined
          ? []
          : CENTRAL_LAYERS.map((name) => ({ tree: bmad, file: name, shown: `_bmad/${name}` }));
      const found = shownLayers(candidate, await layerValues(layers, candidate));
      if (found.length > 0) return found;
      const value = candidate
        .split('.')
        .reduce<unknown>((table, part) => (isTable(table) ? field(table, part) : undefined), values);
      if (value !== undefined && !isTable(value))
        return [{ key: candidate, file: 'module default', value: JSON.stringify(value), chosen: true }];
    }
    return [];
  }

  return { layersOf, layersOfKey, check };
}

/** Scalars are replaced by the last layer that names them; lists and tables are merged from all of them. */
function shownLayers(key: string, layers: readonly LayerValue[]): ShownLayer[] {
  return layers.map(({ file, line, value }, index) => ({
    key,
    file,
    ...(line === undefined ? {} : { line }),
    value: oneLine(
      JSON.stringify(maskSecretValues({ [key.split('.').at(-1) ?? '']: value })).replace(
        /^\{"[^"]*":(.*)\}$/s,
        '$1',
      ),
      120,
    ),
    chosen: index === layers.length - 1 || typeof value === 'object',
  }));
}

/** What is in a folder of the project's `_bmad`; nothing when there is no such folder. */
export async function namesIn(bmad: Tree | undefined, folder: string): Promise<string[]> {
  const entries = await bmad?.list(folder).catch(expected(() => []));
  return entries?.map(({ name }) => name) ?? [];
}
