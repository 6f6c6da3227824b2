import { grouped, present } from '../../base/values.ts';
import { attempt, orElse } from '../../base/errors.ts';
import { basename } from 'node:path';
import { behaviourOf, type BmadRecord, type Problem } from '../../model/record.ts';
import { once } from '../../base/async.ts';
import { isTable, parseToml, tableOf, type Table, isEmpty } from '../../base/parse/parse.ts';
import { contentUri } from '../../base/files/paths.ts';
import { maskSecretValues } from '../../base/secrets/scanner.ts';
import { oneLine } from '../../base/text/text.ts';
import { isPlaceholderName, KIT_SETTINGS, type KitLayer } from '../../kit/configuration.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { optionalText, type Tree } from '../../sources/tree.ts';
import { type Central, CENTRAL_LAYERS, kitPlaces } from './layers.ts';
import { type ProjectSkills, skillFolder } from './resolve-skill.ts';
import type { createCustomizations, CustomizationLayer } from './customize.ts';
import { missingParts } from './workflow.ts';

interface ShownLayer {
  key: string;
  file: string;
  line?: number;
  value: string;
  /** Whether it is the one in force. */
  chosen: boolean;
}

const MODULE_DEFAULT = 'module default';

/** Questions about where merged values come from, and whether the project's own files can be used. */
export function createInspection(
  catalogue: Catalogue,
  { resolved, projectBmad, centralLayers }: ProjectSkills,
  customizations: () => Promise<ReturnType<typeof createCustomizations>>,
) {
  /** What is wrong with the project's own configuration and overrides, and with what workflows are made of. */
  async function check(): Promise<Problem[]> {
    const problems = [
      ...(await centralLayers()).problems,
      ...(await (await customizations()).check()),
      ...(await missingParts(catalogue)),
    ];
    for (const name of await namesIn(await projectBmad(), 'custom')) {
      const skill = /^(.+?)(?:\.user)?\.toml$/.exec(name)?.[1];
      if (skill === undefined || skill === 'config') continue;
      const file = `_bmad/custom/${name}`;
      const record = catalogue.callable.find((candidate) => candidate.name === skill);
      if (record === undefined)
        problems.push({ file, message: `nothing is named "${skill}", so this file has no effect` });
      else problems.push(...(await resolved(record)).problems.filter(({ file: where }) => where === file));
    }
    return problems;
  }

  /** Where each customized value of a skill is set, the weakest layer first. */
  async function layersOf(record: BmadRecord): Promise<ShownLayer[]> {
    const { isSkill, isCompiled } = behaviourOf(record);
    if (isCompiled) return compiledLayers(await (await customizations()).allLayersOf(record));
    if (!isSkill) return [];
    const { overrides, passedOver, customization } = await resolved(record);
    const source = catalogue.sources.find(({ origin }) => origin === record.origin);
    const own = `${skillFolder(record)}/customize.toml`;
    const layers = [
      ...(source === undefined ? [] : [{ tree: source.tree, file: own, shown: contentUri(own) }]),
      ...overrides,
    ];
    const keys = Object.entries(customization).flatMap(([table, inner]) =>
      isTable(inner) ? Object.keys(inner).map((key) => `${table}.${key}`) : [table],
    );
    const [lost, counting] = [await opened(passedOver), await opened(layers)];
    return keys.flatMap((key) => {
      const others = valuesIn(lost, key).map((value) => ({ ...value, isLost: true }));
      return shownLayers(key, [...others, ...valuesIn(counting, key)]);
    });
  }

  const centralFiles = once(async () => opened(projectLayers(await projectBmad(), CENTRAL_LAYERS)));

  /** Where a key of the central configuration is set, the weakest layer first. */
  async function layersOfKey(key: string): Promise<ShownLayer[]> {
    return layersIn(await centralLayers(), key);
  }

  async function layersIn({ values, kit, files }: Central, key: string): Promise<ShownLayer[]> {
    const full = key.includes('.')
      ? [key]
      : [`core.${key}`, ...catalogue.modules.map(({ code }) => `modules.${code}.${key}`)];
    const own = await centralFiles();
    // A central configuration has replaced the files of the modules.
    const isCentral = files.includes('config.toml');
    for (const candidate of full) {
      const ofKit = (layer: KitLayer | undefined) => kitValues(layer, candidate, values);
      const layers = [
        ...ofKit(kit.memory),
        ...(isCentral ? [] : await moduleValue(candidate)),
        ...valuesIn(own.slice(0, 2), candidate),
        ...ofKit(kit.context),
        ...valuesIn(own.slice(2), candidate),
      ];
      // A name that only an installer wrote counts for less than any that was given.
      const isWeak = ({ value }: LayerValue): boolean =>
        isPlaceholderName(candidate.split('.').at(-1) ?? '', value);
      const ordered = [...layers.filter(isWeak), ...layers.filter((layer) => !isWeak(layer))];
      if (layers.length > 0) return shownLayers(candidate, ordered);
      const value = valueAt(values, candidate);
      if (value !== undefined && !isTable(value))
        return [{ key: candidate, file: MODULE_DEFAULT, value: JSON.stringify(value), chosen: true }];
    }
    return [];
  }

  /** What an installer before 6.4 wrote into the file of a module of the project. */
  async function moduleValue(key: string): Promise<LayerValue[]> {
    const [, code, name] = /^(?:modules\.)?([\w.-]+)\.([\w-]+)$/.exec(key) ?? [];
    const module = catalogue.modules.find((each) => each.code === code && each.origin.kind === 'project');
    const setting = module?.settings.find((each) => each.key === name);
    if (module === undefined || setting === undefined || setting.proposed === true) return [];
    const file = `${module.code}/config.yaml`;
    const source = catalogue.sources.find(({ origin }) => origin === module.origin);
    const text =
      source === undefined ? '' : ((await optionalText(source.tree, file).catch(orElse(''))) ?? '');
    const line = text.split('\n').findIndex((each) => each.startsWith(`${setting.key}:`)) + 1;
    if (line === 0) return [];
    return [{ file: `${basename(module.origin.root)}/${file}`, line, value: setting.default }];
  }

  /** The settings that the kit knows of too, as far as the project itself sets them, and where. */
  const projectSettings = once(async () => {
    const central = await centralLayers();
    const settings = await Promise.all(
      KIT_SETTINGS.map(async (name) => {
        const inForce = (await layersIn(central, name)).findLast(({ chosen }) => chosen);
        const value = inForce && valueAt(central.values, inForce.key);
        if (inForce === undefined || inForce.file === MODULE_DEFAULT || typeof value !== 'string') return [];
        return [{ name, value, file: inForce.file, ...present({ line: inForce.line }) }];
      }),
    );
    return settings.flat();
  });

  return { layersOf, layersOfKey, projectSettings, check };
}

/** What the customizations of a compiled agent say, key by key, the weakest file first. */
function compiledLayers(layers: readonly CustomizationLayer[]): ShownLayer[] {
  const rows = layers.flatMap(({ file, table, isLost = false }) =>
    Object.entries(table).flatMap(([key, value]) =>
      isTable(value)
        ? Object.entries(value).map(([inner, said]) => ({
            key: `${key}.${inner}`,
            file,
            value: said,
            isLost,
          }))
        : [{ key, file, value, isLost }],
    ),
  );
  const said = grouped(
    rows.filter(({ value }) => !isEmpty(value)).map((row) => ({ ...row, line: undefined })),
    ({ key }) => key,
  );
  return [...said].flatMap(([key, values]) => shownLayers(key, values));
}

/** Scalars are replaced by the last layer that names them; lists and tables are merged from all of them. */
function shownLayers(key: string, layers: readonly LayerValue[]): ShownLayer[] {
  return layers.map(({ file, line, value, isLost = false }, index) => ({
    key,
    file,
    ...present({ line }),
    value: oneLine(
      JSON.stringify(maskSecretValues({ [key.split('.').at(-1) ?? '']: value })).replace(
        /^\{"[^"]*":(.*)\}$/s,
        '$1',
      ),
      120,
    ),
    chosen: !isLost && (index === layers.length - 1 || typeof value === 'object'),
  }));
}

interface Layer {
  tree: Tree;
  file: string;
  shown: string;
}

/** One layer's say in a merged value. */
type LayerValue = Pick<Layer, 'file'> & { line: number | undefined; value: unknown; isLost?: boolean };

function projectLayers(bmad: Tree | undefined, files: readonly string[]): Layer[] {
  return bmad === undefined ? [] : files.map((file) => ({ tree: bmad, file, shown: `_bmad/${file}` }));
}

type Opened = Awaited<ReturnType<typeof opened>>;

/** The TOML files of layers, each read once for all of its keys; one that cannot be used says nothing. */
async function opened(layers: readonly Layer[]) {
  return Promise.all(
    layers.map(async ({ tree, file, shown }) => {
      const text = (await optionalText(tree, file).catch(orElse(''))) ?? '';
      return { shown, text, table: attempt((): unknown => parseToml(file, text), orElse({})) };
    }),
  );
}

/** What each says about a dotted key, the weakest first; files that do not name it are left out. */
function valuesIn(files: Opened, key: string): LayerValue[] {
  return files.flatMap(({ shown, text, table }) => {
    const value = valueAt(table, key);
    return value === undefined ? [] : [{ file: shown, line: lineOfKey(text, key), value }];
  });
}

/** What a file of the kit says for a dotted key, if that is where its setting belongs. */
function kitValues(layer: KitLayer | undefined, key: string, values: Table): LayerValue[] {
  const name = key.slice(key.lastIndexOf('.') + 1);
  const said = layer?.values[name];
  if (layer === undefined || said === undefined) return [];
  if (!kitPlaces(values, name).some((place) => place.join('.') === key)) return [];
  return [{ file: said.file ?? layer.file, line: said.line, value: said.value }];
}

/** The codes of modules may have dots in them too. */
function valueAt(table: unknown, key: string): unknown {
  const own = tableOf(table);
  if (Object.hasOwn(own, key)) return own[key];
  for (const [name, inner] of Object.entries(own)) {
    const found = key.startsWith(`${name}.`) ? valueAt(inner, key.slice(name.length + 1)) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The line on which a key is set, or on which the first table of a list begins. */
function lineOfKey(text: string, key: string): number | undefined {
  const parts = key.split('.');
  let table = '';
  for (const [index, line] of text.split('\n').entries()) {
    const header = /^\[{1,2}([^\]]+)\]/.exec(line.trimStart())?.[1];
    if (header !== undefined) {
      table = header.replaceAll(/["'\s]/g, '');
      if (table === key) return index + 1;
      continue;
    }
    const name = /^\s*["']?([\w.-]+)["']?\s*=/.exec(line)?.[1];
    if (name === undefined) continue;
    const full = table === '' ? name : `${table}.${name}`;
    if (full === key || (parts.length === 1 && name === key)) return index + 1;
  }
  return undefined;
}

/** What is in a folder of the project's `_bmad`; nothing when there is no such folder. */
export async function namesIn(bmad: Tree | undefined, folder: string): Promise<string[]> {
  const entries = await bmad?.list(folder).catch(orElse([]));
  return entries?.map(({ name }) => name) ?? [];
}
