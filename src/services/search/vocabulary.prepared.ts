import vocabulary from '../../../assets/words/vocabulary.json' with { type: 'json' };
import { analyse } from '../../meaning/analyse.ts';
import { push } from '../../base/values.ts';

/**
 * The method's own words in English and French, one meaning per line: what BMAD's names and titles are made of, spelled
 * out, and said in the other language. A search for one word of a line finds texts with any other. General words are
 * not here; they are the embedder's work. A phrase with a mark, `*mettre en production`, means something else than its words do:
 * these count neither for themselves nor for what else they may mean.
 */
const LINES: readonly string[] = vocabulary;

export interface Phrase {
  /** Analysed. */
  terms: readonly string[];
  /** The other ways of saying it, analysed; not those that say it with the same words and more. */
  others: readonly (readonly string[])[];
  /** Set where its words mean something else together than they do alone: what they mean, in plain words. */
  plainly?: string | undefined;
}

/** What many names are made with says nothing about what one of them stands for. */
const GENERAL = new Set(analyse('document doc'));

/** The phrases by their first term, the longest first. */
function analysedLines(): [string, Phrase[]][] {
  const known = new Map<string, Phrase[]>();
  for (const line of LINES) {
    const idioms = new Set<string>();
    const said = line.split(',').map((phrase) => phrase.trim());
    const plainly = said.find((phrase) => !phrase.startsWith('*'));
    const analysed = said
      .map((phrase) => {
        const terms = analyse(phrase);
        if (phrase.startsWith('*')) idioms.add(terms.join(' '));
        return terms;
      })
      .filter(({ length }) => length > 0);
    const phrases = [...new Map(analysed.map((terms) => [terms.join(' '), terms])).values()];
    for (const terms of phrases) {
      const isIdiom = idioms.has(terms.join(' '));
      const others = phrases
        .filter((other) => other !== terms && !idioms.has(other.join(' ')))
        .filter((other) => isIdiom || !other.some((term) => terms.includes(term)))
        .map((other) => (other.length === 1 ? other : other.filter((term) => !GENERAL.has(term))));
      const [first] = terms;
      if (first === undefined) continue;
      push(known, first, { terms, others, ...(isIdiom ? { plainly } : {}) });
    }
  }
  for (const phrases of known.values()) phrases.sort((a, b) => b.terms.length - a.terms.length);
  return [...known];
}

/** Worked out when the programs are built: to take hundreds of phrases apart would hold up the first search. */
export const PHRASES = analysedLines();
