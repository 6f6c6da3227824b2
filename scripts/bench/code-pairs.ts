import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chunksByDefinition, createGrammars, languageOf } from '../../src/services/codebase/chunks.ts';
import { isTestPath, isWanted, unfitText } from '../../src/services/codebase/paths.ts';

/** The first sentence of a function's comment, and where the function is. Lines are counted from 0. */
export interface Pair {
  query: string;
  path: string;
  start: number;
  end: number;
}

export interface Corpus {
  pairs: Pair[];
  /** The files with all such comments taken out, line by line in their place. */
  files: Map<string, string>;
}

const MOST_BYTES = 300_000;

/** Pairs from the packages that are installed: real code with real comments, written by many people. */
export async function pairsFrom(modules: string): Promise<Corpus> {
  const grammars = createGrammars();
  const files = new Map<string, string>();
  const pairs: Pair[] = [];
  const builds = new Set<string>();
  for (const path of await scripts(modules)) {
    const bytes = await readFile(join(modules, path));
    const text = bytes.toString('utf8');
    if (bytes.length > MOST_BYTES || unfitText(bytes, text) !== undefined) continue;
    // Many packages ship the same code in several builds; one of them is enough.
    const build = `${packageOf(path)}:${path.slice(path.lastIndexOf('/') + 1).replace(/\.\w+$/, '')}`;
    if (builds.has(build)) continue;
    builds.add(build);
    const lines = text.split('\n');
    const definitions = await grammars.definitions(languageOf(path), path, text);
    if (definitions === undefined) continue;
    files.set(
      path,
      text.replace(/\/\*\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ' ')),
    );
    for (const { start, end, symbol, kind } of chunksByDefinition(lines, definitions)) {
      const query = ['function', 'method'].includes(kind) ? sentence(lines.slice(start, end + 1)) : undefined;
      if (query !== undefined && symbol !== '') pairs.push({ query, path, start, end });
    }
  }
  return { pairs: unique(pairs), files };
}

async function scripts(modules: string): Promise<string[]> {
  const entries = await readdir(modules, { recursive: true, withFileTypes: true });
  return entries
    .filter(
      (entry) =>
        entry.isFile() && /\.(?:[cm]?js|tsx?)$/.test(entry.name) && !/\.d\.[cm]?ts$/.test(entry.name),
    )
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(modules.length + 1)
        .replaceAll('\\', '/'),
    )
    .filter((path) => isWanted(path) && !isTestPath(path) && !path.startsWith('.'))
    .sort();
}

function packageOf(path: string): string {
  return path
    .split('/')
    .slice(0, path.startsWith('@') ? 2 : 1)
    .join('/');
}

/** Four words or more, before the first tag; nothing when the comment says less. */
function sentence(lines: readonly string[]): string | undefined {
  const comment = /^\s*\/\*\*([\s\S]*?)\*\//.exec(lines.join('\n'))?.[1];
  const plain =
    comment
      ?.replace(/^\s*\*+ ?/gm, '')
      .split(/^\s*@|```/m)[0]
      ?.replace(/\s+/g, ' ')
      .trim() ?? '';
  const first = /^.*?[.!?](?=\s|$)/.exec(plain)?.[0] ?? plain;
  const words = first.split(' ').length;
  return words >= 4 && first.length <= 250 && !/eslint|istanbul|@|license|copyright/i.test(first)
    ? first
    : undefined;
}

/** A sentence that stands above several functions asks for none of them. */
function unique(pairs: readonly Pair[]): Pair[] {
  const times = new Map<string, number>();
  for (const { query } of pairs) times.set(query, (times.get(query) ?? 0) + 1);
  return pairs.filter(({ query }) => times.get(query) === 1);
}
