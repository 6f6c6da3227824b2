import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';
import { root } from './bundle.ts';

/**
 * A source file that is in two bundles is loaded twice, and what it keeps in a variable of the module is there twice. For
 * something that is derived from its key that costs a little time; for a lock or a queue it is a fault that no test of the
 * sources can see.
 */

/** Files that may be in several bundles all the same, and why. */
const MAY_BE_TWICE: Readonly<Record<string, string>> = {
  'src/config/schema.ts': 'the list of settings, which is made from the schema and never changes',
  'src/kit/project-log.ts':
    'the first commit of a repository, which depends on the commit that it is at alone',
  'src/base/process/process.ts': 'it holds the text of a program, whose variables are not ours',
  'src/catalogue/identity.ts': 'the tables of names, made from data that never changes',
  'src/base/step.ts': 'how a step is said in a text, made from the writer it is kept by',
  'src/base/text/suggest.ts': 'the key of a name, which depends on the name alone',
  'src/meaning/analyse.ts': 'the stem of a word, which depends on the word alone',
  'src/surfaces/http/api/input.ts': 'which operations take a query, which depends on the operation alone',
  'src/surfaces/cli/screen/text.ts': 'the widths of characters, which depend on the character alone',
  'src/surfaces/mcp/steps.ts': 'the writer of steps, made from the choice of tools it is kept by',
  'src/operations/input.ts':
    'inputs that were found right, which depend on the operation and the input alone',
  'src/operations/activation/agent-tools.ts': 'names of tools, made from the workspace they are kept by',
};

const CHANGES = 'set|add|delete|clear|push|splice|pop|shift|unshift|sort|reverse|fill';

/** Variables of the module that can change: `let`, and collections that the file itself writes to. */
export function changingVariables(text: string): string[] {
  const declared = text.matchAll(
    /^(?:export )?(?:(let|var) (\w+)|const (\w+)(?:: [^=]+)? =\s+(?:(?:new (?:Map|Set|WeakMap|WeakSet)|createBounded)\b|\[|\{))/gm,
  );
  return [...declared].flatMap(([, variable, name, constant]) => {
    if (variable !== undefined) return name ?? [];
    const writes = new RegExp(
      `\\b${constant}(?:\\.(?:${CHANGES})\\(|(?:\\.\\w+|\\[[^\\]]+\\])+ (?:\\?\\?|\\|\\||\\+|-)?=[^=>])`,
    );
    return constant !== undefined && writes.test(text) ? constant : [];
  });
}

/** What is wrong: files with state that are in several bundles, and exceptions that are none. */
export async function sharedState({ outputs }: Pick<Metafile, 'outputs'>): Promise<string[]> {
  const bundlesOf = new Map<string, string[]>();
  for (const [output, { inputs }] of Object.entries(outputs))
    for (const [file, { bytesInOutput }] of Object.entries(inputs))
      if (bytesInOutput > 0 && file.startsWith('src/'))
        bundlesOf.set(file, [...(bundlesOf.get(file) ?? []), output.slice(output.lastIndexOf('/') + 1)]);
  const found: [file: string, problem: string][] = [];
  for (const [file, bundles] of [...bundlesOf].filter(([, each]) => each.length > 1)) {
    const names = changingVariables(await readFile(join(root, file), 'utf8'));
    if (names.length > 0)
      found.push([
        file,
        `${file} keeps ${names.join(', ')} in ${bundles.length} bundles: ${bundles.join(', ')}`,
      ]);
  }
  const known = new Set(found.map(([file]) => file));
  return [
    ...found.filter(([file]) => !(file in MAY_BE_TWICE)).map(([, problem]) => problem),
    ...Object.keys(MAY_BE_TWICE)
      .filter((file) => !known.has(file))
      .map((file) => `${file} needs no exception in scripts/module-state.ts`),
  ];
}
