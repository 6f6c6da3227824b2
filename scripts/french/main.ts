import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type CatalogueFiles, isForPeople, problemsOf, spokenIn, textsOf } from './texts.ts';
import kept from './kept.json' with { type: 'json' };
import hosts from '../../assets/hosts/hosts.json' with { type: 'json' };
import systems from '../../assets/names/file-systems.json' with { type: 'json' };
import shapes from '../../assets/secrets/shapes.json' with { type: 'json' };

const HELP = `Checks the French texts of the command line in src/language/fr.

npm run french               what is missing, unused or written wrongly
npm run french -- --missing  only the English texts without a French one, as JSON to fill in
`;

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const folder = join(root, 'src', 'language', 'fr');

/** Others have functions of these names for something else. */
const SPEAKS = /from '[^']*\/message\.ts'/;

async function sources(): Promise<{ all: Set<string>; read: Map<string, string> }> {
  const [all, read] = [new Set<string>(), new Map<string, string>()];
  const entries = await readdir(join(root, 'src'), { withFileTypes: true, recursive: true });
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    const file = relative(join(root, 'src'), path).split(sep).join('/');
    if (!entry.isFile() || !/\.tsx?$/.test(file) || file.endsWith('.test.ts')) continue;
    const source = await readFile(path, 'utf8');
    const texts = textsOf(file.endsWith('.tsx') ? spokenIn(source) : source);
    for (const text of texts.all) all.add(text);
    if (SPEAKS.test(source)) for (const text of texts.said) read.set(text, file);
    if (isForPeople(file)) for (const text of texts.known) read.set(text, file);
  }
  // Some are names that are the same in French.
  for (const text of Object.values(systems.far)) all.add(text);
  // What a value looks like is said to people when it is refused, and what is left to do in a host.
  for (const text of [...shapes.map(({ name }) => name), ...hosts.flatMap(({ after }) => after ?? [])]) {
    all.add(text);
    read.set(text, 'base/secrets/values.ts');
  }
  // What the parser of the command line says itself.
  for (const file of ['command', 'help', 'argument', 'option', 'suggestSimilar'])
    for (const text of textsOf(await readFile(join(root, 'node_modules/commander/lib', `${file}.js`), 'utf8'))
      .all)
      all.add(text);
  return { all, read };
}

async function catalogue(): Promise<CatalogueFiles> {
  const names = (await readdir(folder)).sort();
  const files = names.map(
    async (name) =>
      [name, JSON.parse(await readFile(join(folder, name), 'utf8')) as Record<string, string>] as const,
  );
  return Object.fromEntries(await Promise.all(files));
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { help: { type: 'boolean', default: false }, missing: { type: 'boolean', default: false } },
  });
  if (values.help) return void process.stdout.write(HELP);
  const [files, code] = [await catalogue(), await sources()];
  if (values.missing) {
    const known = new Set([...Object.values(files).flatMap((file) => Object.keys(file)), ...kept]);
    const open = [...code.read.keys()].filter((english) => !known.has(english));
    return void process.stdout.write(
      `${JSON.stringify(Object.fromEntries(open.map((english) => [english, ''])), null, 2)}\n`,
    );
  }
  const problems = problemsOf(files, { ...code, kept });
  const count = Object.values(files).reduce((sum, file) => sum + Object.keys(file).length, 0);
  process.stdout.write(
    `${problems.map((problem) => `${problem}\n`).join('')}${count} French texts, ${problems.length} problems\n`,
  );
  if (problems.length > 0) process.exitCode = 1;
}

await main();
