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
const ABBREVIATIONS: Readonly<Record<string, Abbreviation>> = {
  prd: {
    words: 'product requirements document',
    about: ['what the product or application must do', 'ce que le produit ou l’application doit faire'],
    asked: 'define what the app or application must do',
  },
  gdd: { words: 'game design document', about: ['how the game is played', 'comment se joue le jeu'] },
  nfr: { words: 'non-functional requirements' },
  spec: { words: 'specification' },
  prfaq: { words: 'press release frequently asked questions' },
  faq: { words: 'frequently asked questions' },
  ux: {
    words: 'user experience',
    about: ['what the screens look like and how one uses them', 'à quoi ressemblent les écrans'],
    asked: 'wireframes and mockups',
  },
  ui: { words: 'user interface', about: ['what the screens look like', 'à quoi ressemblent les écrans'] },
  qa: { words: 'quality assurance' },
  e2e: { words: 'end-to-end' },
  atdd: { words: 'acceptance test driven development' },
  tdd: { words: 'test driven development' },
  ci: { words: 'continuous integration' },
  api: { words: 'application programming interface' },
  pm: { words: 'product manager' },
  po: { words: 'product owner' },
  sm: { words: 'scrum master' },
  dev: { words: 'developer' },
};

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
const ASKED: Readonly<Record<string, string>> = {
  'dev-story': 'fix a bug',
  'quick-dev': 'fix a bug',
};

export function askedFor(name: string): string[] {
  const own = Object.hasOwn(ASKED, name) ? [ASKED[name] ?? ''] : [];
  return [...own, ...abbreviationsIn(name).flatMap(({ asked = [] }) => asked)];
}
