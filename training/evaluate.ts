import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { analyse } from '../src/meaning/analyse.ts';
import { fused } from '../src/services/memory/rank.ts';
import { openStaticEmbedder } from '../src/meaning/embedders/static.ts';
import { bm25, cosine, coverage, ranksOf, summary, type Corpus, type Method } from './measures.ts';

/**
 * The figures of the model card: `npx tsx training/evaluate.ts` looks at the test half, `dev` as an argument at the
 * other one. It runs the embedder and the analyser that the server runs.
 */
const here = resolve(fileURLToPath(import.meta.url), '..');
const half = process.argv[2] === 'dev' ? 0 : 1;
const started = performance.now();
const embedder = await openStaticEmbedder(join(here, '..', 'assets'));
const opened = performance.now() - started;

const KINDS = ['paraphrase', 'natural'] as const;
const DIRECTIONS = [
  ['en', 'en'],
  ['fr', 'fr'],
  ['fr', 'en'],
  ['en', 'fr'],
] as const;

type Language = 'en' | 'fr';
type Topic = Record<string, string>;

async function load<T>(path: string): Promise<T> {
  return JSON.parse(await readFile(path, 'utf8')) as T;
}

async function corpusOf(texts: readonly string[]): Promise<Corpus> {
  return {
    raw: texts.map((text) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []),
    terms: texts.map(analyse),
    vectors: await embedder.embed(texts),
  };
}

const METHODS: readonly [string, Method][] = [
  ['BM25, raw words', (query, documents) => bm25(query.raw, documents.raw)],
  ['BM25, analysed', (query, documents) => bm25(query.terms, documents.terms)],
  ['vectors', (query, documents) => cosine(query.vector, documents.vectors)],
  [
    'fused: cos + 0.5 cov⁵',
    (query, documents) => {
      const words = coverage(query.terms, documents.terms);
      return cosine(query.vector, documents.vectors).map((score, i) => fused(score, words[i] ?? 0));
    },
  ],
];

/** Ranks of the right documents, method by method. */
async function measure(
  queries: readonly string[],
  right: readonly number[][],
  documents: Corpus,
): Promise<Map<string, number[]>> {
  const asked = await corpusOf(queries);
  return new Map(
    METHODS.map(([name, method]) => [
      name,
      queries.map((_, i) =>
        ranksOf(
          method(
            {
              raw: asked.raw[i] ?? [],
              terms: asked.terms[i] ?? [],
              vector: asked.vectors[i] ?? new Float32Array(),
            },
            documents,
          ),
          right[i] ?? [],
        ),
      ),
    ]),
  );
}

const topics = await load<Topic[]>(join(here, 'probe', 'topics.json'));
const distractors = await load<Topic[]>(join(here, 'probe', 'distractors.json'));
const chosen = topics.flatMap((_, index) => (index % 2 === half ? [index] : []));
const all = [...topics, ...distractors];
const texts = (language: Language): string[] => all.map((topic) => topic[language] ?? '');
const corpora = { en: await corpusOf(texts('en')), fr: await corpusOf(texts('fr')) };
const both = await corpusOf([...texts('en'), ...texts('fr')]);
const questions = (kind: string, language: Language): string[] =>
  chosen.map((index) => topics[index]?.[`${kind}_${language}`] ?? '');

/** Microseconds for one text of the probe, once the code is warm. */
async function timeOfOne(): Promise<number> {
  const sample = [...texts('en'), ...texts('fr')];
  for (let round = 0; round < 5; round++) await embedder.embed(sample);
  const begin = performance.now();
  for (let round = 0; round < 20; round++) await embedder.embed(sample);
  return ((performance.now() - begin) * 1000) / (20 * sample.length);
}

const lines = [
  `${embedder.id}: opened in ${opened.toFixed(0)} ms, ${(await timeOfOne()).toFixed(0)} µs a text.`,
  '',
];
for (const kind of KINDS) {
  const columns: [string, Map<string, number[]>][] = [];
  for (const [from, to] of DIRECTIONS) {
    const right = chosen.map((index) => [index]);
    columns.push([`${from}→${to}`, await measure(questions(kind, from), right, corpora[to])]);
  }
  const right = chosen.map((index) => [index, index + all.length]);
  const mixed = await measure(
    [...questions(kind, 'en'), ...questions(kind, 'fr')],
    [...right, ...right],
    both,
  );
  columns.push(['mixed', mixed]);
  lines.push(
    `${kind}, ${half === 0 ? 'dev' : 'test'} half, ${chosen.length} topics, R@1 / R@5 / MRR:`,
    '',
    `| method | ${columns.map(([name]) => name).join(' | ')} |`,
    `|---|${columns.map(() => '---').join('|')}|`,
    ...METHODS.map(
      ([name]) => `| ${name} | ${columns.map(([, ranks]) => summary(ranks.get(name) ?? [])).join(' | ')} |`,
    ),
    '',
  );
}
const shared = chosen.flatMap((index) =>
  (['en', 'fr'] as const).map((language) => {
    const said = new Set(analyse(topics[index]?.[language] ?? ''));
    return analyse(topics[index]?.[`paraphrase_${language}`] ?? '').some((term) => said.has(term)) ? 1 : 0;
  }),
);
const sharing = shared.filter((one) => one === 1).length;
lines.push(`Paraphrases that share a term with their text: ${sharing} of ${shared.length}.`, '');

const codeFile = join(here, '..', '.cache', 'training', 'code-probe.json');
if (existsSync(codeFile)) {
  const pairs = (await load<[string, string][]>(codeFile)).filter((_, index) => index % 2 === half);
  const functions = await corpusOf(pairs.map(([, code]) => code));
  const ranks = await measure(
    pairs.map(([words]) => words),
    pairs.map((_, index) => [index]),
    functions,
  );
  lines.push(
    `code, ${pairs.length} comment → function pairs:`,
    '',
    '| method | R@1 / R@5 / MRR |',
    '|---|---|',
  );
  lines.push(...METHODS.map(([name]) => `| ${name} | ${summary(ranks.get(name) ?? [])} |`), '');
}
process.stdout.write(`${lines.join('\n')}\n`);
