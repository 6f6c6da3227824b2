import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { analyse } from '../src/meaning/analyse.ts';
import { openStaticEmbedder } from '../src/meaning/embedders/static.ts';
import { fused } from '../src/services/memory/rank.ts';
import { LIMITS, relationOf, type Limits } from '../src/services/memory/relation.ts';
import { otherWordings, subjectWords as subjectOf, thingsMeant } from '../src/meaning/wordings.ts';
import { cosine, coverage, ranksOf } from './measures.ts';

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
const answered: Record<'meaning' | 'words', number[]> = { meaning: [], words: [] };
const unanswered: Record<'meaning' | 'words', number[]> = { meaning: [], words: [] };
for (const [topic, item] of topics.entries()) {
  if (topic % 2 !== half) continue;
  for (const kind of ['paraphrase_en', 'paraphrase_fr', 'natural_en', 'natural_fr']) {
    const { near, words } = await scored(item[kind] ?? '');
    for (const [index, value] of near.entries())
      if (words[index] === 0) (documents[index]?.topic === topic ? right : wrong).push(value);
    for (const mode of ['meaning', 'words'] as const) {
      const score = (index: number): number =>
        mode === 'words' ? (words[index] ?? 0) : fused(near[index] ?? 0, words[index] ?? 0);
      const order = documents.map((_, index) => index).sort((a, b) => score(b) - score(a));
      const best = order[0] ?? 0;
      if (documents[best]?.topic === topic) answered[mode].push(score(best));
      // The same question where nobody has written anything about it.
      unanswered[mode].push(score(order.find((index) => documents[index]?.topic !== topic) ?? 0));
    }
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
for (const mode of ['meaning', 'words'] as const) {
  lines.push(
    '',
    `Best score, ${mode} (WEAK):`,
    '',
    '| limit | right answers called weak | questions without an answer called weak |',
    '|---|---|---|',
  );
  for (const limit of [0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6])
    lines.push(
      `| ${limit} | ${share(answered[mode], (value) => value < limit)} | ${share(unanswered[mode], (value) => value < limit)} |`,
    );
}

/** A question about a kind of things: the place of the memory that names one, by the limit for a name to count (TELLING_MEANING). */
async function kindsTable(): Promise<string[]> {
  const items = await load('kinds');
  const texts = [
    ...items.flatMap(({ right: named = '', beside = '' }) => [named, beside]),
    ...documents.map(({ text }) => text),
  ];
  const spaces = await embedder.embed(texts);
  const own = texts.map((text) => analyse(text));
  const asked: { at: number; plain: number[]; near: number[]; names: number[] }[] = [];
  for (const [index, { question = '' }] of items.entries()) {
    const wordings = [question, ...otherWordings(question)];
    const asks = await embedder.embed(wordings);
    const [near, words] = [
      asks.map((vector) => cosine(vector, spaces)),
      wordings.map((wording) => coverage(analyse(subjectOf(wording)), own)),
    ];
    const best = (each: (way: number, at: number) => number): number[] =>
      texts.map((_, at) => Math.max(...wordings.map((_way, way) => each(way, at))));
    const shared = best((way, at) => words[way]?.[at] ?? 0);
    const names = thingsMeant(question).map((thing) => coverage(analyse(thing), own));
    asked.push({
      at: index * 2,
      plain: best((way, at) => fused(near[way]?.[at] ?? 0, words[way]?.[at] ?? 0)),
      // Words in common make a name unnecessary.
      near: best((way, at) => near[way]?.[at] ?? 0).map((value, at) => ((shared[at] ?? 0) > 0 ? 1 : value)),
      names: texts.map((_, at) => Math.max(0, ...names.map((each) => each[at] ?? 0))),
    });
  }
  return [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 1.01].map((limit) => {
    const places = asked.map(({ at, plain, near: meaning, names }) => {
      const score = (index: number): number =>
        Math.max(plain[index] ?? 0, (meaning[index] ?? 0) < limit ? (names[index] ?? 0) : 0);
      // Beside its own pair only what names none of the kind: that would be an answer too.
      const others = texts.flatMap((_, index) =>
        index >= items.length * 2 && names[index] === 0 ? [score(index)] : [],
      );
      return ranksOf([score(at), score(at + 1), ...others], [0]);
    });
    const within = (most: number): number => places.filter((place) => place <= most).length;
    return `| ${limit > 1 ? 'always' : limit} | ${within(1)} | ${within(2)} | ${within(5)} |`;
  });
}
lines.push(
  '',
  'Questions about a kind of things, 12 in both languages: the memory that names one is first, among two, among five:',
  '',
  '| a name counts below | first | two | five |',
  '|---|---|---|---|',
  ...(await kindsTable()),
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

type Counts = Record<'same' | 'contrary' | 'other' | 'strange', Record<string, number>>;

/** How the pairs of the probe are called under some limits; `strange` are texts of different subjects. */
function relationsWith(limits: Limits, meaning: boolean): Counts {
  const counts: Counts = { same: {}, contrary: {}, other: {}, strange: {} };
  const one = (text: string) => ({ type: 'decisions', text, terms: said.get(text)?.terms ?? [] });
  const count = (kind: keyof Counts, a: string, b: string): void => {
    const found = relationOf(one(a), one(b), meaning ? near(a, b) : undefined, limits) ?? 'none';
    counts[kind][found] = (counts[kind][found] ?? 0) + 1;
  };
  const items = mine(relations);
  for (const [index, { text = '', ...others }] of items.entries()) {
    for (const kind of ['same', 'contrary', 'other'] as const) count(kind, others[kind] ?? '', text);
    for (const far of items.slice(index + 1)) count('strange', far['text'] ?? '', text);
  }
  return counts;
}

const told = (counts: Record<string, number>): string =>
  ['near-duplicate', 'may contradict', 'none'].map((name) => counts[name] ?? 0).join(' / ');
lines.push(
  '',
  'Pairs called near-duplicate / may contradict / none:',
  '',
  '| limits | same | contrary | other | strange |',
  '|---|---|---|---|---|',
);
const before = { sameWords: 0.8, sameMeaning: 0.93, subjectWords: 0.5, subjectMeaning: 0.75 };
const variants: [string, Limits, boolean][] = [
  ['in use', LIMITS, true],
  ['in use, words only', LIMITS, false],
  ['the first guess', before, true],
];
for (const [sameMeaning, sameWords] of [
  [0.75, 0.6],
  [0.8, 0.6],
  [0.8, 0.8],
  [0.85, 0.7],
  [0.9, 0.7],
] as const)
  variants.push([`same ${sameMeaning}, words ${sameWords}`, { ...LIMITS, sameMeaning, sameWords }, true]);
for (const [subjectMeaning, subjectWords] of [
  [0.5, 0.3],
  [0.6, 0.4],
  [0.85, 0.7],
] as const)
  variants.push([
    `subject ${subjectMeaning}, words ${subjectWords}`,
    { ...LIMITS, subjectMeaning, subjectWords },
    true,
  ]);
for (const [name, limits, meaning] of variants) {
  const { same, contrary, other, strange } = relationsWith(limits, meaning);
  lines.push(`| ${name} | ${[same, contrary, other, strange].map(told).join(' | ')} |`);
}
process.stdout.write(`${lines.join('\n')}\n`);
