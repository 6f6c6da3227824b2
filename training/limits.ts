import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { analyse } from '../src/meaning/analyse.ts';
import { openStaticEmbedder } from '../src/meaning/embedders/static.ts';
import { nearnessOf } from '../src/services/memory/similar.ts';
import { cosine, coverage } from './measures.ts';

/**
 * What the limits of the memory do: `npx tsx training/limits.ts` looks at the test half of the probe, `dev` as an
 * argument at the half that the limits were chosen on.
 */
const here = resolve(fileURLToPath(import.meta.url), '..');
const half = process.argv[2] === 'dev' ? 0 : 1;
const embedder = await openStaticEmbedder(join(here, '..', 'assets'));

type Item = Record<string, string>;
const load = async (name: string): Promise<Item[]> =>
  JSON.parse(await readFile(join(here, 'probe', `${name}.json`), 'utf8')) as Item[];
const mine = <T>(items: readonly T[]): T[] => items.filter((_, index) => index % 2 === half);
const share = (values: readonly number[], holds: (value: number) => boolean): string =>
  values.length === 0 ? '–' : `${Math.round((100 * values.filter(holds).length) / values.length)} %`;
const lines: string[] = [`${embedder.id}, ${half === 0 ? 'dev' : 'test'} half`, ''];

const topics = await load('topics');
const all = [...topics, ...(await load('distractors'))];
const documents = all.flatMap(({ en = '', fr = '' }, topic) => [
  { topic, text: en },
  { topic, text: fr },
]);
const vectors = await embedder.embed(documents.map(({ text }) => text));
const terms = documents.map(({ text }) => analyse(text));

/** Scores of all documents for a question, and which of them share a word with it. */
async function scored(query: string): Promise<{ near: number[]; words: number[] }> {
  const [vector = new Float32Array()] = await embedder.embed([query]);
  return { near: cosine(vector, vectors), words: coverage(analyse(query), terms) };
}

const right: number[] = [];
const wrong: number[] = [];
for (const [topic, item] of topics.entries()) {
  if (topic % 2 !== half) continue;
  for (const kind of ['paraphrase_en', 'paraphrase_fr', 'natural_en', 'natural_fr']) {
    const { near, words } = await scored(item[kind] ?? '');
    for (const [index, value] of near.entries())
      if (words[index] === 0) (documents[index]?.topic === topic ? right : wrong).push(value);
  }
}
lines.push(
  'Hits without a common word, by nearness (LEAST_MEANING):',
  '',
  '| limit | right ones kept | wrong ones dropped |',
  '|---|---|---|',
);
for (const limit of [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4])
  lines.push(
    `| ${limit} | ${share(right, (value) => value >= limit)} | ${share(wrong, (value) => value < limit)} |`,
  );

const relations = await load('relations');
const said = new Map<string, { terms: string[]; vector: Float32Array }>();
for (const item of relations)
  for (const text of Object.values(item)) {
    const [vector = new Float32Array()] = await embedder.embed([text]);
    said.set(text, { terms: analyse(text), vector });
  }
const near = (a: string, b: string): number =>
  cosine(said.get(a)?.vector ?? new Float32Array(), [said.get(b)?.vector ?? new Float32Array()])[0] ?? 0;

/** How many pairs of the probe are taken to be about the same; `strange` are texts of different subjects. */
function aboutTheSame(meaning: boolean): string {
  const counts = { same: [0, 0], contrary: [0, 0], other: [0, 0], strange: [0, 0] };
  const count = (kind: keyof typeof counts, a: string, b: string): void => {
    const [one = [], other = []] = [a, b].map((text) => said.get(text)?.terms ?? []);
    counts[kind][0] =
      (counts[kind][0] ?? 0) + Number(nearnessOf(new Set(one), other, meaning ? near(a, b) : undefined));
    counts[kind][1] = (counts[kind][1] ?? 0) + 1;
  };
  const items = mine(relations);
  for (const [index, { text = '', ...others }] of items.entries()) {
    for (const kind of ['same', 'contrary', 'other'] as const) count(kind, others[kind] ?? '', text);
    for (const far of items.slice(index + 1)) count('strange', far['text'] ?? '', text);
  }
  return Object.values(counts)
    .map(([found, pairs]) => `${found} of ${pairs}`)
    .join(' | ');
}
lines.push(
  '',
  'Pairs that are taken to be about the same (PAIR):',
  '',
  '| compared | same | contrary | other | strange |',
  '|---|---|---|---|---|',
  `| meaning and words | ${aboutTheSame(true)} |`,
  `| words alone | ${aboutTheSame(false)} |`,
);
process.stdout.write(`${lines.join('\n')}\n`);
