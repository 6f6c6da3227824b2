import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Metafile } from 'esbuild';
import { MODULE_PACKAGES } from '../built-in-modules.ts';
import { root } from '../bundle.ts';

/** How a package reaches the person who installs ours. */
export type Way =
  /** Inside our bundles. */
  | 'bundled'
  /** Its files are among ours. */
  | 'copied'
  /** Inside a package that is bundled, whose makers bundled it themselves. */
  | 'within'
  /** Installed by npm beside ours, unless the person leaves it out. */
  | 'optional';

export interface Shipped {
  name: string;
  version: string;
  licence: string;
  way: Way;
  /** Where it is in the lock file; nothing for what is within another package. */
  path?: string;
  integrity?: string;
  /** The package it is within. */
  parent?: string;
}

export interface LockEntry {
  name?: string;
  version?: string;
  license?: string;
  integrity?: string;
  hasInstallScript?: boolean;
  dev?: boolean;
  optional?: boolean;
  link?: boolean;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}

export type Lock = Readonly<Record<string, LockEntry>>;

export async function readLock(): Promise<Lock> {
  const text = await readFile(join(root, 'package-lock.json'), 'utf8');
  return (JSON.parse(text) as { packages: Lock }).packages;
}

/** What bundled packages have within them. Each is here with its licence, so that a new one is noticed. */
const WITHIN: Readonly<Record<string, string>> = { '@cfworker/json-schema': 'MIT', 'content-type': 'MIT' };

/** The packages whose files are the content, copied and not bundled. */
const COPIED = ['bmad-method', ...Object.values(MODULE_PACKAGES)];

/**
 * Everything of others that a person gets with our package: what the bundler put into the files, by its own account, and
 * what npm installs beside them, by the lock file.
 */
export async function shippedPackages(metafiles: readonly Metafile[], lock: Lock): Promise<Shipped[]> {
  const files = bundledFiles(metafiles);
  const bundled = [...new Set(files.map(packagePath))].map((path) => fromLock(path, lock, 'bundled'));
  const optional = closure(Object.keys(lock['']?.optionalDependencies ?? {}), lock);
  const all = [
    ...bundled,
    ...(await within(files)),
    ...COPIED.map((name) => fromLock(`node_modules/${name}`, lock, 'copied')),
    ...optional.map((path) => fromLock(path, lock, 'optional')),
  ];
  return all.sort((a, b) => a.name.localeCompare(b.name, 'en') || a.version.localeCompare(b.version, 'en'));
}

/** Files of packages that have at least one byte in a bundle. `node_modules` may be a link to elsewhere. */
function bundledFiles(metafiles: readonly Metafile[]): string[] {
  const files = new Set<string>();
  for (const { outputs } of metafiles)
    for (const { inputs } of Object.values(outputs))
      for (const [file, { bytesInOutput }] of Object.entries(inputs))
        if (bytesInOutput > 0 && file.split('/').includes('node_modules')) files.add(file);
  return [...files];
}

/** `node_modules/a/node_modules/@b/c` of a file that is in it. */
function packagePath(file: string): string {
  const parts = file.split('/');
  const first = parts.indexOf('node_modules');
  const last = parts.lastIndexOf('node_modules');
  const length = parts[last + 1]?.startsWith('@') === true ? 3 : 2;
  return parts.slice(first, last + length).join('/');
}

function fromLock(path: string, lock: Lock, way: Way): Shipped {
  const { name = path.slice(path.lastIndexOf('node_modules/') + 13), ...entry } = lock[path] ?? {};
  const { version, license, integrity } = entry;
  if (version === undefined || license === undefined || integrity === undefined)
    throw new Error(`The lock file has no version, licence or hash of ${path}.`);
  return { name, version, licence: license, way, path, integrity };
}

/** Bundlers leave a line for each package that they put into a file. */
const REGION = /#region \S*node_modules\/\.pnpm\/(@?[\w.-]+(?:\+[\w.-]+)?)@(\d+\.\d+\.\d+[\w.-]*)/g;

async function within(files: readonly string[]): Promise<Shipped[]> {
  const found = new Map<string, Shipped>();
  for (const file of files) {
    const parent = packagePath(file).slice('node_modules/'.length);
    for (const [, id = '', version = ''] of (await readFile(resolve(root, file), 'utf8')).matchAll(REGION)) {
      const name = id.replace('+', '/');
      const licence = WITHIN[name];
      if (licence === undefined)
        throw new Error(
          `${parent} has ${name} within it: add its licence to WITHIN and its text to licences.ts.`,
        );
      found.set(`${name}@${version}`, {
        name,
        version: version.replace(/_.*/, ''),
        licence,
        way: 'within',
        parent,
      });
    }
  }
  return [...found.values()];
}

/** These packages and all that they need, as paths in the lock file. */
function closure(names: readonly string[], lock: Lock): string[] {
  const paths = new Set<string>();
  const add = (name: string, from: string): void => {
    const path = resolved(name, from, lock);
    if (path === undefined || paths.has(path)) return;
    paths.add(path);
    for (const next of needs(lock[path])) add(next, path);
  };
  for (const name of names) add(name, '');
  return [...paths];
}

export function needs(entry: LockEntry | undefined): string[] {
  return Object.keys({ ...entry?.dependencies, ...entry?.optionalDependencies });
}

/** Which copy of a package another one gets: its own, or that of the nearest folder above. */
export function resolved(name: string, from: string, lock: Lock): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    if (path in lock) return path;
    if (folder === '') return undefined;
  }
}

export const LICENCES_FILE = 'THIRD_PARTY_LICENSES.txt';

/** Copyright lines of what is within other packages, whose own licence texts are not there. All of it has the MIT licence. */
const HOLDERS: Readonly<Record<string, string>> = {
  'pg-types': 'Copyright (c) Brian M. Carlson',
  pgpass: 'Copyright (c) Hannes Hörl',
  '@cfworker/json-schema': 'Copyright (c) Jeremy Danyow',
  'content-type': 'Copyright (c) 2015 Douglas Christopher Wilson',
};

const MIT = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;

/** The licences of all that is in the package and not ours, and the credits that the sources of the model ask for. */
export async function licenceTexts(shipped: readonly Shipped[], credits: string): Promise<string> {
  const texts: string[] = [];
  for (const each of shipped.filter(({ way }) => way !== 'optional'))
    texts.push(`${each.name} ${each.version} (${each.licence})\n\n${await textOf(each)}`);
  texts.push(
    `The word vectors in embedder.bin are made from texts of others, who are credited here:\n\n${credits}`,
  );
  return `${texts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}

async function textOf({ name, path, licence }: Shipped): Promise<string> {
  const folder = join(root, path ?? '');
  const files = (path === undefined ? [] : await readdir(folder)).filter((file) =>
    /^(?:licen[cs]e|notice)(?:\.(?:md|txt))?$/i.test(file),
  );
  if (!files.some((file) => /^licen/i.test(file))) {
    const holder = HOLDERS[name];
    if (holder === undefined || licence !== 'MIT') throw new Error(`There is no licence text of ${name}.`);
    return `${holder}\n\n${MIT}`;
  }
  const texts = await Promise.all(files.sort().map((file) => readFile(join(folder, file), 'utf8')));
  return texts.map((text) => text.trim()).join('\n\n');
}

/** The list at the end of the part of the model card that says what it was trained on. */
export function creditsIn(card: string): string {
  const [, after = ''] = card.split('Credits that the sources ask for:');
  const [credits = ''] = after.split('\n## ');
  if (credits.trim() === '') throw new Error('The model card has no credits.');
  return credits.trim();
}

/** What the first line of the model card calls the model: its name, a dash and its version. */
export function modelName(card: string): { name: string; version: string } {
  const [, name, version] = /^# Model card: (\S+)-(\d+)$/m.exec(card) ?? [];
  if (name === undefined || version === undefined) throw new Error('The model card does not name the model.');
  return { name, version };
}
