import { qualifiedName, type BmadRecord } from '../../src/model/record.ts';
import type { Version } from '../support/installs.ts';
import sentences from './labelled.json' with { type: 'json' };
import later from './later.json' with { type: 'json' };

export interface Sentence {
  language: 'en' | 'fr';
  text: string;
  /** Names of what is right: an id, in whatever module it is, or one with its module. */
  right: readonly string[];
}

export const LABELLED = ['6.12.0', '6.0.0-alpha.22', '4.44.3'] as const satisfies readonly Version[];
export const PARTS = ['tuning', 'untouched', 'later'] as const;
export type Part = (typeof PARTS)[number];

/**
 * What people type and what they mean by it. Sentences at even positions may be looked at when the search is changed;
 * those at odd positions only say how good it has become. The later ones were written after the vocabulary.
 */
export function sentencesOf(version: (typeof LABELLED)[number], part: Part): readonly Sentence[] {
  const all: Record<string, unknown> = part === 'later' ? later : sentences;
  const ofVersion = all[version] as Sentence[];
  if (part === 'later') return ofVersion;
  return ofVersion.filter((_, position) => position % 2 === (part === 'tuning' ? 0 : 1));
}

export function isRight(record: BmadRecord, right: readonly string[]): boolean {
  return right.includes(record.name) || right.includes(qualifiedName(record));
}
