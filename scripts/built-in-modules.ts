import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { sha256 } from '../src/base/values.ts';
import { prepareReading } from '../src/catalogue/prepared.ts';
import { buildCatalogue } from '../src/catalogue/build.ts';
import type { BuiltInModule } from '../src/model/module.ts';
import { readers } from '../src/readers/index.ts';
import { moduleSource } from '../src/sources/built-in.ts';
import type { Source } from '../src/sources/tree.ts';

/** BMAD's official modules beside the method itself, in the order of its installer, and the packages they are in. */
export const MODULE_PACKAGES: Readonly<Record<string, string>> = {
  tea: 'bmad-method-test-architecture-enterprise',
  bmb: 'bmad-builder',
  cis: 'bmad-creative-intelligence-suite',
  gds: 'bmad-game-dev-studio',
};

const MOST_BYTES = 10_000_000;

export const packageFolder = (name: string): string =>
  dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));

/** Copies a folder without what is of use to its makers only. */
export async function copyParts(
  from: string,
  to: string,
  parts: readonly (readonly [string, string])[],
): Promise<void> {
  const wanted = (path: string): boolean =>
    !/(?:__pycache__|[\\/]tests(?:[\\/]|$)|\.pyc$)/.test(path.slice(from.length));
  for (const [part, target] of parts)
    await cp(join(from, part), join(to, target), { recursive: true, filter: wanted });
}

/** The modules with their licences, each a folder with the list of what the readers make of it; nothing of it is in git. */
export async function copyModules(content: string): Promise<Source[]> {
  const folder = join(dirname(content), 'modules');
  const modules: BuiltInModule[] = [];
  for (const [code, name] of Object.entries(MODULE_PACKAGES)) {
    const from = packageFolder(name);
    await mkdir(join(folder, code), { recursive: true });
    await copyParts(from, join(folder, code), [
      ['src', code],
      ['LICENSE', 'LICENSE'],
    ]);
    modules.push(await prepared(code, await manifestOf(from), modules.length, content));
  }
  await writeFile(join(folder, 'modules.json'), JSON.stringify(modules));
  return modules.map((module, place) => moduleSource(module, place, content, MOST_BYTES));
}

interface Manifest {
  version: string;
  repository: { url: string };
}

const manifestOf = async (folder: string): Promise<Manifest> =>
  JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Manifest;

/** What readers make of a module, while each of its files is still there; then those that it has twice are taken out. */
async function prepared(
  code: string,
  { version, repository }: Manifest,
  place: number,
  content: string,
): Promise<BuiltInModule> {
  const folder = join(dirname(content), 'modules');
  const nameless = { code, version, name: code, description: '', counts: {}, repository: repository.url };
  const source: Source = { ...moduleSource(nameless, place, content, MOST_BYTES) };
  delete source.prepared;
  const catalogue = await buildCatalogue([source], readers);
  const [module] = catalogue.modules;
  if (module === undefined || module.code !== code)
    throw new Error(`${code}: the package has no such module.`);
  const counts: BuiltInModule['counts'] = {};
  for (const { kind } of catalogue.listed) counts[kind] = (counts[kind] ?? 0) + 1;
  await writeFile(join(folder, `${code}.json`), await prepareReading(source, readers));
  const twins = await twinsIn(source);
  await writeFile(join(folder, `${code}.twins.json`), JSON.stringify(Object.fromEntries(twins)));
  for (const path of twins.keys()) await rm(join(folder, code, path));
  return { ...nameless, name: module.name, description: module.description, counts };
}

/** Files that have the bytes of one before them: each skill of a module brings its own copy of what it reads. */
async function twinsIn({ tree }: Source): Promise<Map<string, string>> {
  const first = new Map<string, string>();
  const twins = new Map<string, string>();
  for (const path of await tree.files()) {
    const digest = sha256(await tree.read(path));
    const known = first.get(digest);
    if (known === undefined) first.set(digest, path);
    else twins.set(path, known);
  }
  return twins;
}
