import { basename, dirname } from 'node:path/posix';
import { once } from '../../base/async.ts';
import { BmadError, quoted } from '../../base/errors.ts';
import { field, isTable, textField, type Table } from '../../base/parse.ts';
import { contentUri } from '../../base/paths.ts';
import { maskSecretValues } from '../../base/secrets.ts';
import { nearest } from '../../base/suggest.ts';
import { oneLine } from '../../base/text.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { BmadRecord, Problem } from '../../model/record.ts';
import type { Tree } from '../../sources/tree.ts';
import { composeActivation, type Activation } from './activation.ts';
import { centralConfig } from './central-config.ts';
import { generatedFiles, moduleValues } from './generated-files.ts';
import type { Layered } from './layers.ts';
import { RENDERED, resolveSkill, skillFolder, type SkillResolver } from './resolve-skill.ts';
import { mimeTypeOf, serve, type ServedFile } from './served-file.ts';

export interface ServedPath {
  path: string;
  mimeType: string;
  /** Display name of the origin, or `generated`. */
  origin: string;
}

/** What can be handed out of a catalogue, for one project. */
export interface Delivery {
  file(path: string): Promise<ServedFile>;
  /** All paths that can be read, generated ones included, sorted. */
  paths(): Promise<ServedPath[]>;
  /** Everything a model needs to become an agent or start a workflow, as one document. */
  activation(record: BmadRecord, message: string | undefined): Promise<Activation>;
  /** What is wrong with the project's own configuration and overrides. */
  check(): Promise<Problem[]>;
  /** What an agent's menu offers, as a user would ask for it. */
  menu(record: BmadRecord): Promise<string[]>;
}

export interface DeliveryParts {
  catalogue: Catalogue;
  projectRoot: string | undefined;
  /** The project's `_bmad` folder, when it has one: the place of its overrides. */
  projectBmad: Tree | undefined;
  today(): string;
}

export function createDelivery({ catalogue, projectRoot, projectBmad, today }: DeliveryParts): Delivery {
  async function readCentral(): Promise<Layered> {
    const layered = await centralConfig(catalogue.modules, projectRoot, projectBmad);
    return { ...layered, values: maskSecretValues(layered.values) as Table };
  }

  // Without a BMAD folder in the project nothing can change it.
  const central = projectBmad === undefined ? once(readCentral) : readCentral;
  const resolver: SkillResolver = {
    files: catalogue.files,
    projectRoot,
    projectBmad,
    central: async () => (await central()).values,
  };
  const generated = generatedFiles(catalogue.modules, resolver.central);

  async function file(path: string): Promise<ServedFile> {
    if (path.startsWith(RENDERED)) return renderedFile(path);
    const make = generated.get(path);
    if (make !== undefined && !(await catalogue.files.all()).has(path))
      return { path, mimeType: mimeTypeOf(path), text: await make() };
    try {
      const found = await catalogue.files.read(path);
      return serve(path, found.bytes, found.origin);
    } catch (error) {
      if (error instanceof BmadError && error.code === 'not_found')
        throw noSuchFile(
          path,
          (await paths()).map((known) => known.path),
        );
      throw error;
    }
  }

  async function renderedFile(path: string): Promise<ServedFile> {
    const [name = '', ...rest] = path.slice(RENDERED.length).split('/');
    const record = catalogue.winners.find((candidate) => candidate.name === name);
    const rendered = record === undefined ? undefined : (await resolveSkill(record, resolver)).rendered;
    const text = rendered?.get(rest.join('/'));
    if (text !== undefined) return { path, mimeType: mimeTypeOf(path), text };
    throw new BmadError('not_found', `There is no rendered file ${quoted(contentUri(path))}.`, {
      subject: contentUri(path),
      suggestions: [...(rendered?.keys() ?? [])]
        .slice(0, 5)
        .map((known) => contentUri(`${RENDERED}${name}/${known}`)),
      hint: 'Start the workflow with {operation:"execute", workflow:"bmad-build"}; its answer names the files.',
    });
  }

  const paths = once(async () => {
    const all = [...(await catalogue.files.all())].map(([path, origin]) => ({
      path,
      mimeType: mimeTypeOf(path),
      origin: origin.displayName,
    }));
    const known = new Set(all.map(({ path }) => path));
    for (const path of generated.keys())
      if (!known.has(path)) all.push({ path, mimeType: mimeTypeOf(path), origin: 'generated' });
    return all.sort((a, b) => (a.path < b.path ? -1 : 1));
  });

  async function activation(record: BmadRecord, message: string | undefined): Promise<Activation> {
    const successor = catalogue.winners.find(
      ({ name, deprecated }) => name === record.deprecated?.successor && deprecated === undefined,
    );
    const target = successor ?? record;
    const config = await central();
    return composeActivation({
      record: target,
      main: await mainText(target),
      skill: await resolveSkill(target, resolver),
      forwardedBy:
        successor === undefined
          ? undefined
          : { record, text: await mainText(record), skill: await resolveSkill(record, resolver) },
      message,
      central: config.values,
      values: moduleValues(config.values, target.moduleName),
      problems: config.problems,
      projectRoot,
      today: today(),
      files: await catalogue.files.below(skillFolder(target)),
      scripts: await catalogue.files.below('scripts'),
      installedScripts: await namesIn(projectBmad, 'scripts'),
    });
  }

  async function mainText(record: BmadRecord): Promise<string> {
    return (await file(record.bmadRelativePath)).text ?? '';
  }

  async function menu(record: BmadRecord): Promise<string[]> {
    const { customization } = await resolveSkill(record, resolver);
    const agent = field(customization, 'agent');
    const items = isTable(agent) ? field(agent, 'menu') : undefined;
    if (!Array.isArray(items)) return [];
    return items
      .filter(isTable)
      .map(
        (item) => `${textField(item, 'code') ?? ''}: ${oneLine(textField(item, 'description') ?? '', 120)}`,
      );
  }

  async function check(): Promise<Problem[]> {
    const problems = [...(await central()).problems];
    for (const name of await namesIn(projectBmad, 'custom')) {
      const skill = /^(.+?)(?:\.user)?\.toml$/.exec(name)?.[1];
      if (skill === undefined || skill === 'config') continue;
      const record = catalogue.winners.find((candidate) => candidate.name === skill);
      if (record === undefined)
        problems.push({
          file: `custom/${name}`,
          message: `nothing is named "${skill}", so this file changes nothing`,
        });
      else
        problems.push(
          ...(await resolveSkill(record, resolver)).problems.filter(
            ({ file: where }) => where === `custom/${name}`,
          ),
        );
    }
    return problems;
  }

  return { file, paths, activation, check, menu };
}

/** Names what is close: a file of the same folder with a similar name, or one of that very name elsewhere. */
function noSuchFile(path: string, known: readonly string[]): BmadError {
  const [folder, name] = [dirname(path), basename(path)];
  const beside = known.filter((other) => dirname(other) === folder).map((other) => basename(other));
  const near = nearest(name, beside).map((other) => `${folder}/${other}`);
  const elsewhere = known.filter((other) => basename(other) === name).slice(0, 3);
  return new BmadError('not_found', `There is no file ${quoted(contentUri(path))}.`, {
    subject: contentUri(path),
    suggestions: [...new Set([...near, ...elsewhere])].slice(0, 3).map(contentUri),
    hint: 'List the files with {operation:"list", query:"resources"}; pattern:"bmm/**" narrows the list.',
  });
}

/** What is in a folder of the project's `_bmad`; nothing when there is no such folder. */
async function namesIn(bmad: Tree | undefined, folder: string): Promise<string[]> {
  try {
    return (await bmad?.list(folder))?.map(({ name }) => name) ?? [];
  } catch (error) {
    if (error instanceof BmadError) return [];
    throw error;
  }
}
