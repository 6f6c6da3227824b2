import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { builtIn, complaint, patternsIn, type Pattern } from './find.ts';
import { TOLD } from '../../src/base/secrets/scanner.ts';
import { REFERENCES, SHAPES } from '../../src/base/secrets/values.ts';

// Finds regular expressions of src that some text makes slow: all of them may come to see text from outside.
// What was found to be fast is not tried again as long as neither this check nor Node has changed: .cache/patterns.json.
// npm run patterns

/**
 * Expressions that are put together while the program runs, by file: one example for each, with what callers pass. An
 * expression that is only another one with other flags has none.
 */
const BUILT: Readonly<Record<string, readonly RegExp[]>> = {
  'src/base/parse/toml-list.ts': [/^[ \t]*(?:sources|"sources"|'sources')[ \t]*=[ \t]*/gm],
  'src/config/flags.ts': [/^(?:git\+|[\w.-]+@[\w.-]+:(?!\/\/))/],
  'src/services/delivery/agent.ts': [/<persona[\s>]/, /<step(?:\s[^>]*)?(>?)/g],
  'src/services/delivery/workflow.ts': [/^\{project-root\}\/(?:_bmad|\.bmad|bmad|custom\.folder)\//],
  'src/kit/configuration.ts': [/^\s*["']?user_name["']?\s*:/],
  'src/kit/agents.ts': [/\bAGENT_TAG=([\w.-]{1,100})/],
  'src/readers/v4/yaml-text.ts': [/^[ \t]*(?:- )?name:[ \t]*(\S.*)$/m],
  'src/readers/compiled/tasks-and-material.ts': [/^[^/]+\/tasks\/[^/]+\.(?:xml|md)$/i],
  'src/base/secrets/rules.ts': [],
  'src/base/text/hidden.ts': [
    /[\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\p{Cc}]/gu,
    new RegExp('\\p{RGI_Emoji}', 'gv'),
  ],
  'src/base/secrets/scanner.ts': [TOLD],
  'src/base/secrets/values.ts': [...SHAPES.map(({ pattern }) => pattern), ...REFERENCES],
};

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const cache = join(root, '.cache/patterns.json');

async function sourceFiles(): Promise<string[]> {
  const entries = await readdir(join(root, 'src'), { withFileTypes: true, recursive: true });
  return entries
    .filter(({ name }) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map(({ parentPath, name }) => relative(root, join(parentPath, name)).split(sep).join('/'))
    .sort();
}

async function checkDigest(): Promise<string> {
  const hash = createHash('sha256').update(process.version);
  for (const name of ['patterns/find.ts', 'english/tokens.ts'])
    hash.update(await readFile(join(root, 'scripts', name)));
  return hash.digest('hex');
}

async function knownFast(digest: string): Promise<Set<string>> {
  const text = await readFile(cache, 'utf8').catch(() => '{}');
  const { check, fast = [] } = JSON.parse(text) as { check?: string; fast?: string[] };
  return new Set(check === digest ? fast : []);
}

const unique = new Map<string, Pattern>();
const complaints: string[] = [];
for (const file of await sourceFiles()) {
  const code = await readFile(join(root, file), 'utf8');
  const [line] = builtIn(code);
  if (line !== undefined && BUILT[file] === undefined)
    complaints.push(
      `${file}:${line}  puts an expression together: give an example in scripts/patterns/main.ts\n`,
    );
  const examples = (BUILT[file] ?? []).map(({ source, flags }) => ({ file, line: line ?? 0, source, flags }));
  for (const pattern of [...patternsIn(file, code), ...examples])
    unique.set(`/${pattern.source}/${pattern.flags}`, pattern);
}
const check = await checkDigest();
const known = await knownFast(check);
const fast: string[] = [];
for (const [text, pattern] of unique) {
  const said = known.has(text) ? undefined : complaint(pattern);
  if (said === undefined) fast.push(text);
  else complaints.push(said);
}
await mkdir(dirname(cache), { recursive: true });
await writeFile(cache, `${JSON.stringify({ check, fast })}\n`);
process.stdout.write(complaints.join(''));
process.stdout.write(`${unique.size} expressions, ${complaints.length} to rewrite\n`);
if (complaints.length > 0) process.exitCode = 1;
