import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openStaticEmbedder } from '../../src/meaning/embedders/static.ts';
import { meaningIndex, meaningTable } from '../../src/services/search/meaning-index.ts';
import { questionOf, slotsOf } from '../../src/services/search/question.ts';
import { type RecordText, recordTexts } from '../../src/services/search/record-text.ts';
import { WordIndex, smallWordTable } from '../../src/services/search/word-index.ts';
import { LABELLED, PARTS } from '../../tests/search/labelled.ts';
import {
  figuresOf,
  openInstalls,
  placesOf,
  searching,
  type Place,
  type Way,
} from '../../tests/search/measure.ts';

/**
 * How often the right agent or workflow is the first hit, and among the first three, for sentences that people type:
 * `npm run bench:search`. The tuning half was looked at when the search was made, the
 * untouched half was not; the later sentences were written after the vocabulary.
 */
const assets = join(resolve(dirname(fileURLToPath(import.meta.url)), '..', '..'), 'assets');
const embedder = await openStaticEmbedder(assets);
const installs = await openInstalls();

/** The positions of the highest first. */
const best = (scores: Float64Array): number[] =>
  [...scores.keys()].sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0));

const withoutVocabulary: Way = async ({ catalogue, records, describe }) => {
  const texts = await recordTexts(catalogue, records, describe);
  const index = new WordIndex(smallWordTable(texts));
  return async (words) => {
    const { scores } = index.find(slotsOf(questionOf(words), index));
    return best(scores).flatMap((at) => (scores[at] === 0 ? [] : (records[at] ?? [])));
  };
};

const meaning: Way = async ({ catalogue, records, describe }) => {
  const texts = await recordTexts(catalogue, records, describe);
  const table = await meaningTable(records.length, (at) => texts[at] as RecordText, embedder);
  const index = meaningIndex(records.length, table, embedder);
  return async (words) => best(await index(questionOf(words))).flatMap((at) => records[at] ?? []);
};

const WAYS: readonly (readonly [string, Way])[] = [
  ['words, no vocabulary', withoutVocabulary],
  ['words', searching(undefined)],
  ['meaning', meaning],
  ['words and meaning', searching(embedder)],
];

const GROUPS: readonly (readonly [string, (place: Place) => boolean])[] = [
  ['all', () => true],
  ['English', ({ sentence }) => sentence.language === 'en'],
  ['French', ({ sentence }) => sentence.language === 'fr'],
  ...LABELLED.map((version) => [version, (place: Place) => place.version === version] as const),
];

const percent = (share: number): string => `${Math.round(share * 100)}`;
const lines: string[] = [];
for (const part of PARTS) {
  lines.push('', `## ${part}: hit@1 / hit@3 in percent, MRR`, '');
  lines.push(`| | ${GROUPS.map(([name]) => name).join(' | ')} |`, `|---|${'---|'.repeat(GROUPS.length)}`);
  for (const [name, way] of WAYS) {
    const places = await placesOf(installs, part, way);
    const cells = GROUPS.map(([, takes]) => {
      const { hit1, hit3, mrr } = figuresOf(places.filter(takes));
      return `${percent(hit1)} / ${percent(hit3)} · ${mrr.toFixed(2)}`;
    });
    lines.push(`| ${name} | ${cells.join(' | ')} |`);
  }
}
process.stdout.write(`${lines.join('\n').trim()}\n`);
