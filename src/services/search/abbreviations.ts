import table from '../../../assets/words/abbreviations.json' with { type: 'json' };
import { analyse } from '../../meaning/analyse.ts';

interface Abbreviation {
  /** In English as the content is; the vocabulary says it in French. */
  words: string;
  /** What it is for, in the words of a person who knows neither the letters nor the terms. */
  about?: readonly string[];
  /** A sentence it is asked for with, for its words: some that the content does not have lead elsewhere. */
  asked?: string;
}

/** What the abbreviations in BMAD's names stand for: people who want such a thing say that, not the letters. */
const ABBREVIATIONS: Readonly<Record<string, Abbreviation>> = table.letters;

/** Most names have none, and need not be taken apart to see that. */
const LETTERS = Object.keys(ABBREVIATIONS);
const hasNone = (name: string): boolean =>
  /^[ -~]*$/.test(name) && !LETTERS.some((each) => name.toLowerCase().includes(each));

function abbreviationsIn(name: string): Abbreviation[] {
  if (hasNone(name)) return [];
  return analyse(name).flatMap((term) =>
    Object.hasOwn(ABBREVIATIONS, term) ? (ABBREVIATIONS[term] ?? []) : [],
  );
}

/** The words behind the abbreviations that a name is made of; nothing for a name without any. */
export function spelledOut(name: string): string {
  return abbreviationsIn(name)
    .map(({ words }) => words)
    .join(', ');
}

export function aboutAbbreviations(name: string): string[] {
  return abbreviationsIn(name).flatMap(({ about = [] }) => about);
}

/** Sentences that things are asked for with and whose words their texts do not have. */
const ASKED: Readonly<Record<string, string>> = table.asked;

export function askedFor(name: string): string[] {
  const own = Object.hasOwn(ASKED, name) ? [ASKED[name] ?? ''] : [];
  return [...own, ...abbreviationsIn(name).flatMap(({ asked = [] }) => asked)];
}
