import { describe, expect, it } from 'vitest';
import { isListed, STARTABLE } from '../../src/model/record.ts';
import { contextIn } from '../support/app.ts';
import { installOf } from '../support/installs.ts';
import { HALVES, isRight, LABELLED, sentencesOf } from './labelled.ts';

describe.each(LABELLED)('the labelled sentences for %s', (version) => {
  it('name agents and workflows that are there', async () => {
    const context = await contextIn(await installOf(version), { flags: { discovery: 'local' } });
    const { catalogue } = await context.workspace();
    const there = catalogue.winners.filter((record) => STARTABLE.includes(record.kind) && isListed(record));
    const missing = HALVES.flatMap((half) => sentencesOf(version, half)).flatMap(({ right }) =>
      right.filter((label) => !there.some((record) => isRight(record, [label]))),
    );
    expect(missing).toEqual([]);
    context.close();
  });

  it('are half English and half French in both halves', () => {
    const count = (half: (typeof HALVES)[number], language: string): number =>
      sentencesOf(version, half).filter((sentence) => sentence.language === language).length;
    expect(HALVES.map((half) => [count(half, 'en'), count(half, 'fr')])).toEqual([
      [16, 16],
      [16, 16],
    ]);
  });
});
