import { mkdir, mkdtemp, rm, writeFile, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createLog } from '../../src/base/log.ts';
import { createSecrets } from '../../src/base/secrets/rules.ts';
import { analyse, type Analyser, ANALYSER_VERSION } from '../../src/meaning/analyse.ts';
import { withNames } from '../../src/services/codebase/codebase.ts';
import { matchesByRipgrep, needlesOf } from '../../src/services/codebase/exact.ts';
import { ripgrepProgram } from '../../src/services/codebase/ripgrep.ts';
import { createGrammars, chunksByDefinition, languageOf } from '../../src/services/codebase/chunks.ts';
import { openIndexer } from '../../src/services/codebase/indexer.ts';
import { pieceOf } from '../../src/services/codebase/pieces.ts';
import { rank, type Ranked } from '../../src/services/codebase/rank.ts';
import { embedQuestion } from '../../src/services/codebase/vectors.ts';
import { openStaticEmbedder } from '../../src/meaning/embedders/static.ts';
import { isTestPath, isWanted, unfitText } from '../../src/services/codebase/searched-files.ts';

/**
 * How often the search in code finds the function that a comment was written for: `npm run bench:code [folder with packages]
 * [most pairs]`. How long searches take is a part of `npm run bench`.
 */
const modules = resolve(process.argv[2] ?? 'node_modules');
const most = Number(process.argv[3] ?? 600);
const log = createLog({
  level: 'warn',
  write: (text) => process.stderr.write(text),
  json: false,
  secrets: createSecrets(),
});
const forever = new AbortController().signal;
const ripgrep = ripgrepProgram();

/** What the server uses. */
const STEMS: Analyser = { id: `words-${ANALYSER_VERSION}`, terms: analyse };
const embedder = await openStaticEmbedder(resolve('assets'));

interface Variant {
  name: string;
  grammars: boolean;
  exact: boolean;
  vectors: boolean;
}

const WORDS = { grammars: true, exact: false, vectors: false };
const VARIANTS: readonly Variant[] = [
  { name: 'words', ...WORDS },
  { name: '… and exact', ...WORDS, exact: true },
  { name: '… and vectors (the default)', ...WORDS, exact: true, vectors: true },
  { name: 'the default without grammars', grammars: false, exact: true, vectors: true },
];

async function measure(
  { grammars, exact, vectors }: Variant,
  root: string,
  corpus: Corpus,
  cache: string,
): Promise<string> {
  const indexer = await openIndexer({
    root,
    analyser: STEMS,
    embedder: vectors ? embedder : undefined,
    ripgrep,
    background: false,
    env: process.env,
    log,
    place: join(cache, `${grammars}-${vectors}.index`),
    grammars: createGrammars(grammars),
  });
  await indexer.survey(() => true, undefined, forever);
  await indexer.work(Infinity, forever, () => undefined);
  const asked = new Map<string, Pair[]>();
  for (const pair of corpus.pairs) asked.set(pair.path, [...(asked.get(pair.path) ?? []), pair]);
  const ranks: number[] = [];
  const among: number[] = [];
  for (const pair of corpus.pairs) {
    const needles = exact ? needlesOf(pair.query) : [];
    const matches =
      needles.length > 0 && ripgrep !== undefined
        ? await matchesByRipgrep(ripgrep, root, needles, forever)
        : [];
    const words = indexer.index.vocabulary.asked(pair.query);
    const vector = vectors ? await embedQuestion(embedder, pair.query, forever) : undefined;
    const question = { words, vector, needles, matches: matches ?? [], tests: true, takes: () => true };
    const found = rank(indexer.index, question);
    const { best } = await withNames(found, vectors ? embedder : undefined, vector, forever);
    ranks.push(place(best.slice(0, 100), pair));
    const pool = best.filter((hit) => asked.get(hit.file.path)?.some((other) => isIn(hit, other)) === true);
    among.push(place(pool.slice(0, 100), pair));
  }
  const share = (limit: number): string =>
    (ranks.filter((at) => at <= limit).length / ranks.length).toFixed(3);
  return `${share(1)} | ${share(5)} | ${meanOfInverse(ranks)} | ${meanOfInverse(among)}`;
}

function place(hits: readonly Ranked[], pair: Pair): number {
  const at = hits.findIndex((hit) => isIn(hit, pair));
  return at === -1 ? Infinity : at + 1;
}

function isIn({ file, chunk }: Ranked, { path, start, end }: Pair): boolean {
  const piece = pieceOf(file, chunk);
  return file.path === path && piece.start <= end && piece.end >= start;
}

function meanOfInverse(ranks: readonly number[]): string {
  return (ranks.reduce((sum, at) => sum + 1 / at, 0) / ranks.length).toFixed(3);
}

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
export async function pairsFrom(folder: string): Promise<Corpus> {
  const grammars = createGrammars();
  const files = new Map<string, string>();
  const pairs: Pair[] = [];
  const builds = new Set<string>();
  for (const path of await scripts(folder)) {
    const bytes = await readFile(join(folder, path));
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

async function scripts(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter(
      (entry) =>
        entry.isFile() && /\.(?:[cm]?js|tsx?)$/.test(entry.name) && !/\.d\.[cm]?ts$/.test(entry.name),
    )
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(folder.length + 1)
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

const scratch = await mkdtemp(join(tmpdir(), 'bmad-code-bench-'));
try {
  const all = await pairsFrom(modules);
  const step = Math.max(1, all.pairs.length / most);
  const corpus = {
    ...all,
    pairs: all.pairs.filter((_, at) => Math.floor(at / step) !== Math.floor((at - 1) / step)),
  };
  const root = join(scratch, 'corpus');
  for (const [path, text] of corpus.files) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  const packages = new Set(
    corpus.pairs.map(({ path }) =>
      path
        .split('/')
        .slice(0, path.startsWith('@') ? 2 : 1)
        .join('/'),
    ),
  );
  process.stdout.write(
    `${corpus.pairs.length} pairs of ${packages.size} packages, in ${corpus.files.size} files\n\n`,
  );
  process.stdout.write(
    '| words | R@1 | R@5 | MRR | MRR among the asked functions |\n|---|---|---|---|---|\n',
  );
  for (const variant of VARIANTS)
    process.stdout.write(
      `| ${variant.name} | ${await measure(variant, root, corpus, join(scratch, 'index'))} |\n`,
    );
} finally {
  await rm(scratch, { recursive: true, force: true });
}
