import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { RAW_WORD, splitIdentifier } from '../../src/base/text/code-words.ts';
import { folderBytes } from '../../src/base/files/file-state.ts';
import { createLog } from '../../src/base/log.ts';

import { createSecrets } from '../../src/base/secrets/known-values.ts';
import { analyse, type Analyser, ANALYSER_VERSION } from '../../src/meaning/analyse.ts';
import { createCodebase, withNames } from '../../src/services/codebase/codebase.ts';
import { matchesByRipgrep, needlesOf } from '../../src/services/codebase/exact.ts';
import { ripgrepProgram } from '../../src/services/codebase/ripgrep.ts';
import { createGrammars } from '../../src/services/codebase/chunks.ts';
import { openIndexer } from '../../src/services/codebase/indexer.ts';
import { pieceOf } from '../../src/services/codebase/pieces.ts';
import { rank, type Ranked } from '../../src/services/codebase/rank.ts';
import { embedQuestion } from '../../src/services/codebase/vectors.ts';
import { openStaticEmbedder } from '../../src/meaning/embedders/static.ts';
import { pairsFrom, type Corpus, type Pair } from './code-pairs.ts';
import { percentile } from './statistics.ts';

/**
 * Measures the search in code: how often the function is found that a comment was written for, and how long searches
 * take. `npm run bench:code [folder with packages] [most pairs]`; with 0 pairs only times. Processor time is given beside the
 * clock's, because a busy machine stretches the latter.
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

const RAW: Analyser = { id: 'raw', terms: (text) => [text.toLowerCase()] };
const SPLIT: Analyser = {
  id: 'split',
  terms: (text) => (text.match(RAW_WORD) ?? []).flatMap(splitIdentifier).map((word) => word.toLowerCase()),
};

/** What the server uses. */
const STEMS: Analyser = { id: `words-${ANALYSER_VERSION}`, terms: analyse };
const embedder = await openStaticEmbedder(resolve('assets'));

interface Variant {
  name: string;
  analyser: Analyser;
  grammars: boolean;
  exact: boolean;
  vectors: boolean;
}

const WORDS = { grammars: true, exact: false, vectors: false };
const VARIANTS: readonly Variant[] = [
  { name: 'raw words', ...WORDS, analyser: RAW },
  { name: 'split words', ...WORDS, analyser: SPLIT },
  { name: 'split, stems, stop words', ...WORDS, analyser: STEMS },
  { name: '… and exact', ...WORDS, analyser: STEMS, exact: true },
  { name: '… and vectors (the default)', ...WORDS, analyser: STEMS, exact: true, vectors: true },
  { name: 'the default without grammars', analyser: STEMS, grammars: false, exact: true, vectors: true },
];

async function measure(
  { analyser, grammars, exact, vectors }: Variant,
  root: string,
  corpus: Corpus,
  cache: string,
): Promise<string> {
  const indexer = await openIndexer({
    root,
    analyser,
    embedder: vectors ? embedder : undefined,
    ripgrep,
    background: false,
    env: process.env,
    log,
    place: join(cache, `${analyser.id}-${grammars}-${vectors}.index`),
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

interface Asked {
  ms: number;
  cpu: number;
  files: number;
  partial: boolean;
}

async function times(name: string, root: string, scratch: string): Promise<string> {
  const cache = join(scratch, `cache-${name.replaceAll(/\W+/g, '-')}`);
  const options = {
    root,
    cache,
    budgetMs: 3_000,
    background: true,
    env: process.env,
    log,
    analyser: STEMS,
    embedder,
  };
  const codebase = createCodebase(options);
  const ask = async (query: string, by = codebase): Promise<Asked> => {
    const began = performance.now();
    const used = process.cpuUsage();
    const { files, partial } = await by.search({ query, limit: 8 }, forever, () => undefined);
    const { user, system } = process.cpuUsage(used);
    const cpu = (user + system) / 1000;
    return { ms: performance.now() - began, cpu, files: files.indexed, partial };
  };
  const first = await ask('read the configuration of the user');
  const began = performance.now();
  let last = first;
  while (last.partial) last = await ask('write a file');
  const whole = last === first ? '' : `, all read after ${seconds(first.ms + performance.now() - began)}`;
  // The one that works in the background would take its share of the processor from what is measured next.
  codebase.stop();
  const settle = createCodebase({ ...options, background: false, budgetMs: 600_000 });
  await ask('settled', settle);
  const warm: Asked[] = [];
  for (const query of QUERIES) warm.push(await ask(query, settle));
  const fresh: Asked[] = [];
  for (const query of QUERIES.slice(0, 4)) fresh.push(await ask(query, createCodebase(options)));
  const size = ((await folderBytes(cache)) / 1e6).toFixed(1);
  const row = [
    name,
    last.files,
    `${seconds(first.ms)}, processor ${seconds(first.cpu)}${first.partial ? `, partial: ${first.files} files` : ''}${whole}`,
    clockAndProcessor(warm),
    clockAndProcessor(fresh),
    `${size} MB`,
  ];
  return row.join(' | ');
}

function clockAndProcessor(asked: readonly Asked[]): string {
  const clock = asked.map(({ ms }) => ms);
  const used = asked.map(({ cpu }) => cpu);
  const both = [clock, used].map((all) => [50, 95].map((at) => percentile(all, at).toFixed(0)).join(' / '));
  return `${both[0]} ms, processor ${both[1]} ms`;
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
const QUERIES = [
  'parse a date from a string',
  'where errors are reported',
  'createServer',
  'retry after a failure',
  '"use strict"',
  'split a path into parts',
  'merge two objects deeply',
  'cancel a running request',
];

const scratch = await mkdtemp(join(tmpdir(), 'bmad-code-bench-'));
try {
  const all = await pairsFrom(modules);
  const step = Math.max(1, all.pairs.length / (most || 1));
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
  for (const variant of most === 0 ? [] : VARIANTS)
    process.stdout.write(
      `| ${variant.name} | ${await measure(variant, root, corpus, join(scratch, 'index'))} |\n`,
    );

  process.stdout.write(
    '\n| project | files | first answer | warm p50 / p95 | index read anew | index |\n|---|---|---|---|---|---|\n',
  );
  process.stdout.write(`| ${await times('this repository', resolve('.'), scratch)} |\n`);
  // Files of usual sizes, as a project of its own.
  const large = join(scratch, 'large');
  const usual = [...corpus.files].filter(([, text]) => text.length < 40_000);
  for (let count = 0; count < 2_000; count++) {
    const [path, text] = usual[count % usual.length] ?? ['', ''];
    const copy = join(large, `part${Math.floor(count / usual.length)}`, path);
    await mkdir(dirname(copy), { recursive: true });
    await writeFile(copy, text);
  }
  process.stdout.write(
    `| ${await times(`2,000 files, ${((await folderBytes(large)) / 1e6).toFixed(0)} MB`, large, scratch)} |\n`,
  );
} finally {
  await rm(scratch, { recursive: true, force: true });
}
