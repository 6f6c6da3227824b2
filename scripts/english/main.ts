import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { findIn, type Finding } from './find.ts';

const HELP = `Finds phrases that read as translated, in the strings of src and in the documents.

npm run english                 every phrase: file:line, what it says, what to write instead
npm run english -- src/kit      only below this path
npm run english -- --count      numbers by folder and by phrase
npm run english -- --comments   comments of the code as well
npm run english -- --root PATH  another checkout
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: 'boolean', default: false },
    comments: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
    root: { type: 'string' },
  },
});
const root = resolve(values.root ?? join(dirname(fileURLToPath(import.meta.url)), '../..'));

async function filesBelow(folder: string, depth: boolean): Promise<string[]> {
  const entries = await readdir(join(root, folder), { withFileTypes: true, recursive: depth });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'));
}

/** docs/reference is made from the strings: a phrase is reported once, where it is written. */
async function filesToRead(): Promise<string[]> {
  const code = (await filesBelow('src', true)).filter(
    (file) => /\.tsx?$/.test(file) && !file.endsWith('.test.ts'),
  );
  const pages = [...(await filesBelow('.', false)), ...(await filesBelow('docs', true))].filter(
    (file) => file.endsWith('.md') && !file.startsWith('docs/reference/'),
  );
  return [...pages, ...code].sort();
}

function table(findings: readonly Finding[], key: (finding: Finding) => string): string {
  const counts = new Map<string, number>();
  for (const finding of findings) counts.set(key(finding), (counts.get(key(finding)) ?? 0) + 1);
  return [...counts]
    .sort((one, other) => other[1] - one[1])
    .map(([name, count]) => `${String(count).padStart(6)}  ${name}\n`)
    .join('');
}

/** `src/services/memory` for code, the folder for documents, the file for those in the root. */
const folderOf = (file: string): string =>
  file
    .split('/')
    .slice(0, Math.max(1, Math.min(3, file.split('/').length - 1)))
    .join('/');

async function main(): Promise<void> {
  if (values.help) return void process.stdout.write(HELP);
  const files = (await filesToRead()).filter(
    (file) =>
      positionals.length === 0 || positionals.some((part) => file.startsWith(part.replace(/^\.\//, ''))),
  );
  const findings: Finding[] = [];
  for (const file of files)
    findings.push(...findIn(file, await readFile(join(root, file), 'utf8'), values.comments));
  if (values.count)
    process.stdout.write(
      `${table(findings, ({ file }) => folderOf(file))}\n${table(findings, ({ pattern }) => pattern.name)}\n`,
    );
  else
    for (const { file, line, phrase, around, pattern } of findings)
      process.stdout.write(`${file}:${line}  "${phrase}"  →  ${pattern.instead}\n    ${around}\n`);
  const inCode = findings.filter(({ file }) => file.endsWith('.ts')).length;
  process.stdout.write(
    `${findings.length} phrases to rewrite (${inCode} in code, ${findings.length - inCode} in documents; ${files.length} files)\n`,
  );
  if (findings.length > 0) process.exitCode = 1;
}

await main();
