import { describe, expect, it } from 'vitest';
import { isListed, STARTABLE } from '../../src/model/record.ts';
import { usually } from '../support/how-much.ts';
import { installAlone } from '../support/install-project.ts';
import { PARTS, isRight, LABELLED, sentencesOf, type Part } from './labelled.ts';

describe.each(usually(LABELLED))('the labelled sentences for %s', (version) => {
  it('name agents and workflows that are there', async () => {
    const context = await installAlone(version);
    const { catalogue } = await context.workspace();
    const there = catalogue.winners.filter((record) => STARTABLE.includes(record.kind) && isListed(record));
    const missing = PARTS.flatMap((part) => sentencesOf(version, part)).flatMap(({ right }) =>
      right.filter((label) => !there.some((record) => isRight(record, [label]))),
    );
    expect(missing).toEqual([]);
  });

  it('are half English and half French in every part', () => {
    const count = (part: Part, language: string): number =>
      sentencesOf(version, part).filter((sentence) => sentence.language === language).length;
    expect(PARTS.map((part) => [count(part, 'en'), count(part, 'fr')])).toEqual([
      [16, 16],
      [16, 16],
      [12, 12],
    ]);
  });
});
