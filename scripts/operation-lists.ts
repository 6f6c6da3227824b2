import { readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { AnyOperation } from '../src/operations/operation.ts';

// Writes the lists of operations from their declarations: an operation is declared in its own file and nowhere else.
//   index.ts    all of them at once, in the order users see them
//   registry.ts those that clients reach and those that only the command line has, each loaded with its first call
//   offered.ts  where each is offered, as data that can be read without their code
// With --check nothing is written, and what is out of date is named.

const folder = join(dirname(fileURLToPath(import.meta.url)), '..', 'src', 'operations');
const INDEX = join(folder, 'index.ts');
const HEADER = '// Written by "npm run update" from the declarations of the operations. Do not edit.\n';

interface Declared {
  operation: AnyOperation;
  /** The name it is exported by, and the file that does. */
  exported: string;
  file: string;
}

async function declaredIn(file: string): Promise<Declared[]> {
  const text = await readFile(join(folder, file), 'utf8');
  if (!/= define(?:Operation|Route)\(/.test(text)) return [];
  const module = (await import(pathToFileURL(join(folder, file)).href)) as Record<string, unknown>;
  return Object.entries(module)
    .filter((entry): entry is [string, AnyOperation] => isOperation(entry[1]))
    .map(([exported, operation]) => ({ operation, exported, file }));
}

function isOperation(value: unknown): value is AnyOperation {
  return typeof value === 'object' && value !== null && 'render' in value && 'input' in value;
}

async function allDeclared(): Promise<Declared[]> {
  const files = (await readdir(folder, { recursive: true }))
    .map((name) => name.split(sep).join('/'))
    .filter((name) => name.includes('/') && name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .sort();
  const found: Declared[] = [];
  for (const file of files) found.push(...(await declaredIn(file)));
  return inOrder(found);
}

/** The order of the list as it is; what is new follows the last of its folder. Move a line to change the order. */
async function inOrder(found: readonly Declared[]): Promise<Declared[]> {
  const list = /\[\n([\s\S]*?)\];/.exec(await readFile(INDEX, 'utf8'))?.[1] ?? '';
  const known = [...list.matchAll(/^ {2}(\w+),$/gm)].map(([, name]) => name);
  const ordered = known.flatMap((name) => found.filter(({ exported }) => exported === name));
  for (const each of found.filter((one) => !ordered.includes(one))) {
    const last = ordered.findLastIndex(({ file }) => dirname(file) === dirname(each.file));
    ordered.splice(last === -1 ? ordered.length : last + 1, 0, each);
  }
  return ordered;
}

function importsOf(declared: readonly Declared[]): string {
  const files = new Map<string, string[]>();
  for (const { file, exported } of declared) files.set(file, [...(files.get(file) ?? []), exported]);
  return [...files]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([file, names]) => `import { ${names.sort().join(', ')} } from './${file}';\n`)
    .join('');
}

const isReached = ({ toolset, behind, serves }: AnyOperation): boolean =>
  toolset !== undefined ||
  behind !== undefined ||
  serves === 'clients' ||
  serves === 'surface' ||
  serves === 'apps';

function indexText(declared: readonly Declared[]): string {
  return `${HEADER}import type { AnyOperation } from './operation.ts';
${importsOf(declared)}
/** Every operation, in the order users see them. */
export const operations: readonly AnyOperation[] = [
${declared.map(({ exported }) => `  ${exported},\n`).join('')}];
`;
}

/** Data as our code is written: plain keys, single quotes. */
const key = (name: string): string => (/^\w+$/.test(name) ? name : `'${name}'`);
const data = (value: object): string =>
  JSON.stringify(value)
    .replace(/"(\w+)":/g, '$1: ')
    .replaceAll('"', "'")
    .replace(/([{,])(?=\S)/g, '$1 ')
    .replace(/([^{\s])\}/g, '$1 }');

/** A list of operations, each of which is loaded when it is needed. */
function loadersText(name: string, about: string, declared: readonly Declared[]): string {
  const lines = declared.map(
    ({ operation, exported, file }) =>
      `  ${key(operation.name)}: async () => (await import('./${file}')).${exported},\n`,
  );
  return `/** ${about} */
export const ${name} = {
${lines.join('')}} satisfies Record<string, () => Promise<AnyOperation>>;
`;
}

/** Lists that need no code of an operation; a program contains those of them that it uses. */
function registryText(declared: readonly Declared[]): string {
  const reached = declared.filter(({ operation }) => isReached(operation));
  const typed = declared.filter(({ operation }) => !isReached(operation) && operation.command !== undefined);
  return `${HEADER}import type { AnswersOf, AnyOperation } from './operation.ts';

${loadersText('LATE', 'The operations that clients of the server reach, each loaded with its first call.', reached)}
${loadersText('TYPED', 'The operations that only the command line has, each loaded when it is typed.', typed)}
/** What each of them answers. */
export type Answers = AnswersOf<typeof LATE & typeof TYPED>;
`;
}

function offeredText(declared: readonly Declared[]): string {
  const lines = declared.map(({ operation }) => {
    const { name, toolset, behind, serves, command, positional, forPeople, input } = operation;
    const projectless = 'project' in input.shape ? undefined : true;
    return `  ${key(name)}: ${data({ toolset, behind, serves, command, positional, projectless, forPeople })},\n`;
  });
  return `${HEADER}import type { Offer } from './toolsets.ts';

/** Where each operation is offered, in the order users see them. */
export const OFFERED: Readonly<Partial<Record<string, Offer>>> = {
${lines.join('')}};
`;
}

/** Writes what is out of date, or only names it. */
async function updated(file: string, text: string, check: boolean): Promise<boolean> {
  const path = join(folder, file);
  if ((await readFile(path, 'utf8').catch(() => '')) === text) return true;
  process.stderr.write(
    `${relative(process.cwd(), path)} is ${check ? 'out of date: run "npm run update"' : 'written'}\n`,
  );
  if (!check) await writeFile(path, text);
  return !check;
}

export async function writeOperationLists({ check }: { check: boolean }): Promise<boolean> {
  const declared = await allDeclared();
  const results = [
    await updated('index.ts', indexText(declared), check),
    await updated('registry.ts', registryText(declared), check),
    await updated('offered.ts', offeredText(declared), check),
  ];
  return results.every(Boolean);
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  process.exitCode = (await writeOperationLists({ check: process.argv.includes('--check') })) ? 0 : 1;
