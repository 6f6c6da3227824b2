import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openStaticEmbedder } from '../../src/meaning/embedders/static.ts';
import { STARTABLE } from '../../src/model/record.ts';
import { createSearch } from '../../src/services/search/search.ts';
import { repository } from '../support/app.ts';
import { isDeep, usually } from '../support/how-much.ts';
import { isRight, LABELLED, sentencesOf } from './labelled.ts';
import { openInstalls } from './measure.ts';
import { NONSENSE, OTHER_NONSENSE } from './nonsense.ts';

const installs = await openInstalls(usually(LABELLED));
const model = await openStaticEmbedder(join(repository, 'assets'));

/** Shares a little beside what was measured: docs/measurements/search.md. */
describe.each([
  ['words', undefined],
  ['words and meaning', model],
] as const)('by %s', (_, embedder) => {
  const finds = installs.map((install) => {
    const search = createSearch({ ...install, embedder: async () => embedder });
    return {
      version: install.version,
      first: async (words: string) => (await search.find({ words, kinds: STARTABLE, takes: () => true }))[0],
    };
  });

  it.each([
    ['those the threshold was chosen on', NONSENSE],
    ['others', OTHER_NONSENSE],
  ])('what nothing here is for has only weak hits: %s', async (_which, sentences) => {
    let confident = 0;
    for (const { first } of finds)
      for (const text of sentences) if ((await first(text))?.weak === false) confident++;
    expect(confident / (finds.length * sentences.length)).toBeLessThan(0.17);
  });

  it.each(['tuning', 'untouched', 'later'] as const)('right answers are seldom weak: %s', async (part) => {
    let [right, weak] = [0, 0];
    for (const { version, first } of finds)
      for (const { text, right: labels } of sentencesOf(version, part)) {
        const hit = await first(text);
        if (hit === undefined || !isRight(hit.record, labels)) continue;
        right++;
        if (hit.weak) weak++;
      }
    // Of all three versions, which a long trial has; of two alone it is a little more.
    expect(weak / right).toBeLessThan(isDeep ? 0.12 : 0.13);
  });
});
